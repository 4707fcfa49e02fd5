"""Files that the box's own user must be able to read."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Show = Callable[..., Path]


@contextmanager
def for_everyone(needed: bool) -> Iterator[Show]:
    """Gives a function that takes a folder and returns one with the same content that any user may read.

    That is the folder itself where possible, else a copy that is removed afterwards; ``own`` asks for a copy in any
    case. ``needed`` is False where the box runs under our own user: then every folder is shown as it is.
    """
    copies: list[str] = []

    def show(folder: Path, only: tuple[str, ...] | None = None, own: bool = False) -> Path:
        folder = folder.resolve()
        parts = [folder / name for name in only] if only else [folder]
        if not own and (not needed or all(map(_open_to_all, parts))):
            return folder
        copies.append(tempfile.mkdtemp(prefix="arena-show-"))
        copy = Path(copies[-1]) / "copy"
        for part in parts:
            _copy(part, copy / part.relative_to(folder))
        return copy

    try:
        yield show
    finally:
        for copy in copies:
            shutil.rmtree(copy)


def _open_to_all(folder: Path) -> bool:
    if folder.stat().st_mode & 0o005 != 0o005:
        return False
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            state = os.lstat(os.path.join(where, name))
            need = 0o005 if name in folders else 0o004
            if state.st_mode & need != need:
                return False
    return True


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True)
    for where, folders, files in os.walk(target):
        os.chmod(where, 0o755)
        for name in folders + files:
            path = os.path.join(where, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if name in folders else 0o644)
