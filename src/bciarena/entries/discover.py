"""Finds the class of an entry without running any of it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from bciarena.contests.rulebook import Rulebook
from bciarena.entries.layout import contained
from bciarena.entries.sources import read_source
from bciarena.errors import BadInput
from bciarena.plaintext import one_line

FRAMEWORK = ("Algorithm/Interface/", "Algorithm/method/interface/", "Algorithm/method/model/")


def find_target(root: Path, rulebook: Rulebook, named: str = "") -> str:
    """``path/file.py:Class`` of the entry in ``root``, relative to it.

    ``named`` (``module:Class`` or ``path/file.py:Class``) decides; without it the contest's class names do.
    """
    if named:
        return _named(root, named)
    names = rulebook.classes
    found = [(path, name) for path, classes in _classes(root).items() for name in classes if name in names]
    if len(found) == 1:
        return f"{found[0][0]}:{found[0][1]}"
    advice = 'name the one with --entry module:Class, or entry = "module:Class" in config.toml'
    if not found:
        others = sorted({name for classes in _classes(root).values() for name in classes})
        seen = f" (found: {', '.join(others[:6])})" if others else ""
        raise BadInput(f"no class {' or '.join(names)} for {rulebook.id} in this entry{seen}; {advice}")
    listed = ", ".join(f"{name} in {path}" for path, name in found[:4])
    raise BadInput(f"this entry has {len(found)} classes to choose from ({listed}); {advice}")


def _named(root: Path, named: str) -> str:
    file, colon, name = named.replace("\\", "/").rpartition(":")
    if not colon or not name.isidentifier() or not file:
        raise BadInput(f"{one_line(named, 200)!r}: write module:Class or path/file.py:Class")
    for relative in _places(file):
        path = contained(root, str(relative))
        if path is None or not path.is_file():
            continue
        if path.suffix == ".py":
            source = read_source(path)
            if name not in source.classes and not source.problem:
                raise BadInput(f"{relative}: has no class {name} (it has: {', '.join(source.classes) or 'none'})")
        return f"{relative}:{name}"
    raise BadInput(f"{one_line(named, 200)!r}: the entry has no file {one_line(file, 200)}")


def _places(file: str) -> list[PurePosixPath]:
    """Where a named module may lie: as a path or as a dotted name, as source or compiled, in every layout."""
    stem = file.removesuffix(".pyc").removesuffix(".py")
    path = PurePosixPath(stem.removeprefix("./") if "/" in stem or stem != file else stem.replace(".", "/"))
    folders = ("", "Algorithm", "AlgorithmImplement", "Algorithm/method/impl")
    choices = [PurePosixPath(folder) / path for folder in folders]
    choices += [PurePosixPath(folder) / path.name for folder in folders[1:]]
    return [choice.with_name(choice.name + ending) for choice in choices for ending in (".py", ".pyc")]


def _classes(root: Path) -> dict[str, list[str]]:
    """Classes by file. A compiled file shows only its name, which in the contests is that of its class."""
    found: dict[str, list[str]] = {}
    for path in sorted(root.rglob("*.py*")):
        relative = path.relative_to(root).as_posix()
        if relative.startswith(FRAMEWORK) or path.is_symlink() or not path.is_file():
            continue
        if path.suffix == ".pyc":
            if not path.with_suffix(".py").exists():
                found[relative] = [path.stem]
        elif path.suffix == ".py":
            source = read_source(path)
            # A file that cannot be read to its end may still hold the class: Python itself will say what is wrong.
            found[relative] = source.classes or ([path.stem] if source.problem else [])
    return found
