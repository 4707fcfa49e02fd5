"""Private temporary folders that do not outlive their process for long.

A process may be killed at any line, and then nobody removes its folder. So every folder has a lock that its process
holds; whoever makes the next one removes those whose lock is free.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = "lock"
YOUNG_S = 60  # between making a folder and locking it


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """A new private folder, removed afterwards, whatever happens."""
    _sweep(prefix)
    with tempfile.TemporaryDirectory(prefix=prefix) as place, open(Path(place) / LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(place)


def _sweep(prefix: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        try:
            with open(folder / LOCK) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time.time() - folder.stat().st_mtime > YOUNG_S:
                    shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # in use, not ours, or just removed by its owner
