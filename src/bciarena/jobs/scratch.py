"""Temporary folders that do not outlive their owner, however it ended.

A folder belongs to the process that holds a lock on the file beside it. A killed process holds no lock, so the next one
removes what it left.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def base() -> Path:
    """Where this user's scratch folders are."""
    return Path(os.environ.get("TMPDIR") or "/tmp") / f"arena-work-{os.getuid()}"


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one job; meanwhile it is also where this process makes its temporary files."""
    place = base()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    clean()
    name = uuid.uuid4().hex
    folder, lock = place / name, place / f"{name}.lock"
    before = tempfile.tempdir
    with open(place / f"{name}.new", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        os.rename(held.name, lock)  # visible to others only once it is locked
        folder.mkdir()
        tempfile.tempdir = str(folder)
        try:
            yield folder
        finally:
            tempfile.tempdir = before
            shutil.rmtree(folder, ignore_errors=True)
            lock.unlink(missing_ok=True)


def clean() -> int:
    """Remove the folders whose owner is gone; returns how many."""
    removed = 0
    for lock in base().glob("*.lock"):
        with suppress(OSError), open(lock) as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while the owner lives
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
            removed += 1
    return removed
