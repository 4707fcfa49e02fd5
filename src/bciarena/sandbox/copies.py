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
FREE_MIB, FREE_SHARE = 20 << 10, 0.2
"""What copies leave free on the disk, or this share of it where that is less: an environment may take 6 GB a place."""


class Place:
    """One of the folders with copies; no other box gets its number until this one has left it."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number = folder, number

    def copies(self, shown: Sequence[tuple[Path, Path]], hidden: Sequence[Path]) -> list[tuple[Path, Path]]:
        """The same places, each with a source in this folder; what is hidden is not copied at all."""
        wanted = {self._named(source, hidden) for source, _ in shown}
        for copy in _copies(self.folder):
            if copy not in wanted and time.time() - copy.stat().st_mtime > UNUSED_S:
                _remove(copy)
        if not all(copy.exists() for copy in wanted):
            self._make_room(wanted)
        return [(self._copy(source, hidden), place) for source, place in shown]

    def _make_room(self, wanted: set[Path]) -> None:
        """Remove copies until enough of the disk is free: first here, then in places that no running box holds."""
        self._remove_oldest(self.folder, wanted)
        for other in sorted(self.folder.parent.iterdir()):
            if not _enough_free(self.folder) and other != self.folder and (lock := _held(other)) is not None:
                try:
                    self._remove_oldest(other, set())
                finally:
                    os.close(lock)

    @staticmethod
    def _remove_oldest(folder: Path, wanted: set[Path]) -> None:
        for copy in sorted(set(_copies(folder)) - wanted, key=lambda one: one.stat().st_mtime):
            if _enough_free(folder):
                return
            _remove(copy)

    def _named(self, source: Path, hidden: Sequence[Path]) -> Path:
        """The copy of a source as it is now."""
        inside = [path for path in hidden if source in path.parents]
        stamps = (
            [source, *source.glob("python3*"), *source.glob("python3*/*-packages")] if source.is_dir() else [source]
        )
        what = _digest([source, *sorted(inside)])
        return self.folder / f"{what}-{_digest(f'{path} {path.stat().st_mtime_ns}' for path in sorted(stamps))}"

    def _copy(self, source: Path, hidden: Sequence[Path]) -> Path:
        inside, copy = [path for path in hidden if source in path.parents], self._named(source, hidden)
        if copy.exists():
            os.utime(copy)  # for the cleaning up: used now
            return copy
        for old in self.folder.glob(f"{copy.name.split('-')[0]}-*"):  # made before the source was changed
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


def _copies(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name != "lock"]


def _enough_free(folder: Path) -> bool:
    disk = shutil.disk_usage(folder)
    return disk.free >= min(FREE_MIB << 20, disk.total * FREE_SHARE)


def _held(folder: Path) -> int | None:
    """The lock of a place, to be closed; None if a running box holds it. A process that dies lets go of its place."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


@contextmanager
def own_place(cache: Path) -> Iterator[Place]:
    """The first place that no running box holds, held until the caller is done."""
    for number in range(PLACES):
        folder = cache / f"{number}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = _held(folder)
        except OSError as error:
            raise BadInput(f"{folder}: cannot be written ({error.strerror}); set XDG_CACHE_HOME") from error
        if lock is None:
            continue
        try:
            yield Place(folder, number)
        finally:
            os.close(lock)
        return
    raise Fault(f"{cache}: all {PLACES} places for boxes are taken")
