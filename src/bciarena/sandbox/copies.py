"""Copies of everything a box can map, so that no two boxes that run at the same time share a single page.

Two processes that map the same page of a file can signal to each other through it (a futex belongs to the file, however
read-only), whatever walls stand between them; and seccomp cannot see where an address points. So ranked boxes take a
place of their own: a folder with copies of the interpreter, its packages and the system's libraries, made once and held
by one box at a time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bciarena.errors import BadInput, Fault

PLACES = 256
UNUSED_S = 7 * 86400.0  # a copy that was not used for this long is removed


class Place:
    """One of the folders with copies; no other box gets its number until this one has left it."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number = folder, number

    def copies(self, shown: Sequence[tuple[Path, Path]], hidden: Sequence[Path]) -> list[tuple[Path, Path]]:
        """The same places, each with a source in this folder; what is hidden is not copied at all."""
        own = [(self._copy(source, hidden), place) for source, place in shown]
        kept = {copy.name for copy, _ in own}
        for copy in self.folder.iterdir():
            if copy.name not in kept and copy.name != "lock" and time.time() - copy.stat().st_mtime > UNUSED_S:
                _remove(copy)
        return own

    def _copy(self, source: Path, hidden: Sequence[Path]) -> Path:
        inside = [path for path in hidden if source in path.parents]
        stamps = (
            [source, *source.glob("python3*"), *source.glob("python3*/*-packages")] if source.is_dir() else [source]
        )
        what = _digest([source, *sorted(inside)])
        copy = self.folder / f"{what}-{_digest(f'{path} {path.stat().st_mtime_ns}' for path in sorted(stamps))}"
        if copy.exists():
            os.utime(copy)  # for the cleaning up: used now
            return copy
        for old in self.folder.glob(f"{what}-*"):  # made before the source was changed
            _remove(old)
        beside = Path(tempfile.mkdtemp(prefix=".part-", dir=self.folder))
        try:
            whole = beside / "copy"
            if source.is_dir():
                _copy_folder(source, whole, set(inside))
            else:
                shutil.copy2(source, whole)  # for a link, the file it points to, as the box would show it
            os.utime(whole)
            whole.rename(copy)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return copy


def _digest(words: Iterable[object]) -> str:
    return hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()[:20]


def _copy_folder(source: Path, target: Path, hidden: set[Path]) -> None:
    """Copy with cp, which is several times faster than Python and takes no room on file systems that share blocks."""
    target.mkdir()
    above = {parent for path in hidden for parent in path.parents}
    whole = []
    for item in sorted(source.iterdir()):
        if item in above and not item.is_symlink():
            _copy_folder(item, target / item.name, hidden)
        elif item not in hidden:
            whole.append(item)
    if whole:
        done = subprocess.run(["cp", "-dRp", "--", *whole, target], capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise Fault(f"{source}: cannot be copied for a box: {done.stderr.strip().splitlines()[-1:]}")
    shutil.copystat(source, target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@contextmanager
def own_place(cache: Path) -> Iterator[Place]:
    """The first place that no running box holds, held until the caller is done; a process that dies lets go of it."""
    for number in range(PLACES):
        folder = cache / f"{number}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise BadInput(f"{folder}: cannot be written ({error.strerror}); set XDG_CACHE_HOME") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        try:
            yield Place(folder, number)
        finally:
            os.close(lock)
        return
    raise Fault(f"{cache}: all {PLACES} places for boxes are taken")
