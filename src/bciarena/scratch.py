"""Temporary folders that do not outlive their owner, however it ended.

A folder belongs to the process that holds a lock on the file beside it. A killed process holds no lock, so the next one
removes what it left.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bciarena.errors import BadInput
from bciarena.processes import LINUX


def base() -> Path:
    """Where this user's scratch folders are, closed to others."""
    place = Path(os.environ.get("TMPDIR") or "/tmp") / f"arena-work-{os.getuid()}"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        raise BadInput(f"{place}: belongs to somebody else; remove it, or set TMPDIR to a folder of your own")
    return place


@contextmanager
def scratch(temporary: bool = False) -> Iterator[Path]:
    """A new private folder, removed afterwards; if ``temporary``, this process makes its temporary files in it."""
    if not LINUX:
        with tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as made:
            yield Path(made)
        return
    import fcntl

    clean()
    place, name = base(), uuid.uuid4().hex
    folder, lock = place / name, place / f"{name}.lock"
    before = tempfile.tempdir
    with open(place / f"{name}.new", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        os.rename(held.name, lock)  # visible to others only once it is locked
        folder.mkdir()
        if temporary:
            tempfile.tempdir = str(folder)
        try:
            yield folder
        finally:
            if temporary:
                tempfile.tempdir = before
            shutil.rmtree(folder, ignore_errors=True)
            lock.unlink(missing_ok=True)


def clean() -> int:
    """Remove the folders whose owner is gone; returns how many."""
    import fcntl

    removed = 0
    for lock in base().glob("*.lock"):
        with suppress(OSError), open(lock) as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while the owner lives
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
            removed += 1
    return removed
