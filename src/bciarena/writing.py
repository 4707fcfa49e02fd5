"""Nothing half-written is ever seen under its final name: write beside, then rename.

For a dry run everything is written beside as ever, and is then removed instead of being renamed (`rehearse`).
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bciarena.errors import BadInput

_rehearsed: list[str] | None = None
"""What a dry run would have written; None where it is none."""


def rehearse(wanted: bool) -> None:
    """From now on nothing that a user named is written (or it is again)."""
    global _rehearsed
    _rehearsed = [] if wanted else None


def rehearsed() -> list[str] | None:
    """What would have been written, a line for each file or folder; None outside a dry run."""
    return _rehearsed


def _is_rehearsal(path: Path) -> bool:
    """Whether ``path`` is not to be written; what lies in a folder beside its final place is, as a part of that one."""
    inside = any(part.startswith(".") and part.endswith(".part") for part in path.parts)
    return _rehearsed is not None and not inside


def _would(path: Path, beside: Path) -> None:
    files = [one for one in beside.rglob("*") if one.is_file()] if beside.is_dir() else [beside]
    size = sum(one.stat().st_size for one in files)
    there = path.exists() and (not path.is_dir() or any(path.iterdir()))
    assert _rehearsed is not None
    verb = "replace" if there else "write"
    _rehearsed.append(f"would {verb} {path}: files {len(files)}, {size / 1e6:.1f} MB")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a name beside ``path`` to write to; rename it on success, remove it otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = _beside(path)
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


class _Enough(Exception):
    """The end of a dry run's file: it is removed, not renamed."""


@contextmanager
def wanted_file(path: Path) -> Iterator[Path]:
    """``whole_file`` for a name that the user gave: a file that cannot be written is reported in one line."""
    try:
        with whole_file(path) as beside:
            yield beside
            if _is_rehearsal(path):
                _would(path, beside)
                raise _Enough
    except _Enough:
        return
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def whole_folder(path: Path, force: bool = False) -> Iterator[Path]:
    """Yield a folder beside ``path`` to fill; it takes its place on success and is removed otherwise.

    What is at ``path`` already is replaced when it is an empty folder, or with ``force``; else BadInput is raised.
    """
    path = path.absolute()
    refuse_existing(path, force)
    beside = _beside(path)
    old = beside.with_suffix(".old")
    held = -1
    try:
        try:
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            held = _locked(beside)
        except OSError as error:
            raise _unwritable(path, error) from error
        if held >= 0:
            _alone(path, beside)
        yield beside
        if _is_rehearsal(path):
            _would(path, beside)
            return
        try:
            refuse_existing(path, force)
            if path.exists():
                os.replace(path, old)
            os.replace(beside, path)
        except OSError as error:
            raise _unwritable(path, error) from error
    finally:
        if old.exists() and not path.exists():  # stopped between the two
            os.replace(old, path)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(beside, ignore_errors=True)
        if held >= 0:
            os.close(held)


def _locked(folder: Path) -> int:
    """A descriptor that holds a lock on a folder; -1 on systems without such locks, where companion packages run."""
    try:
        import fcntl
    except ImportError:
        return -1
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    return held


def _alone(path: Path, beside: Path) -> None:
    """Refuse a folder that another process is writing; remove what a dead one left."""
    import fcntl

    for other in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        if other == beside or not other.is_dir():
            continue
        try:
            held = os.open(other, os.O_RDONLY)
        except FileNotFoundError:  # just finished
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(other, ignore_errors=True)
        except BlockingIOError:
            raise BadInput(f"{path}: another command is writing it at this moment; choose another name") from None
        finally:
            os.close(held)


@contextmanager
def wanted_folder(path: Path, force: bool = False) -> Iterator[Path]:
    """``whole_folder`` for code that does nothing but write: a full disk, too, is reported in one line."""
    try:
        with whole_folder(path, force) as beside:
            yield beside
    except OSError as error:
        raise _unwritable(path, error) from error


def refuse_existing(path: Path, force: bool = False) -> None:
    """Raise BadInput where something exists that must not be replaced without ``force``."""
    if path.exists() and not path.is_dir():
        raise BadInput(f"{path}: is a file; give a folder")
    if path.is_dir() and any(path.iterdir()) and not force:
        raise BadInput(f"{path}: exists already and is not empty; choose another name or give --force to replace it")


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _unwritable(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path}: cannot be written ({error.strerror or error}); nothing half-made is left")
