"""Finds the class of an entry without running any of it."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from bciarena.contests.rulebook import Rulebook
from bciarena.entries.layout import contained
from bciarena.entries.sources import read_source
from bciarena.entries.telling import tell
from bciarena.errors import BadInput
from bciarena.plaintext import one_line

FRAMEWORK = re.compile(r"(Algorithm|(AlgorithmSystem/)?AlgorithmImplement)/(Interface|method/interface|method/model)/")
FOLDERS = (
    "",
    "Algorithm",
    "AlgorithmImplement",
    "Algorithm/impl",
    "Algorithm/method/impl",
    "AlgorithmSystem/AlgorithmImplement",
)
MAIN_BYTES = 1 << 16


def find_target(root: Path, rulebook: Rulebook, named: str = "", main: str = "") -> tuple[str, list[str]]:
    """``path/file.py:Class`` of the entry in ``root``, relative to it, and those that were passed over.

    ``named`` (``module:Class`` or ``path/file.py:Class``) decides; without it the class that ``main`` imports, the text
    of the package's own main.py; else, among classes with a name of the contest, the one in a file of its own name,
    the contest's usual name before others, the outermost before those deeper down.
    """
    if named:
        return _named(root, named), []
    names, classes = rulebook.classes, _classes(root)
    found = [(path, name) for path, own in classes.items() for name in own if name in names]
    for module, name in re.findall(
        r"^[ \t]*from[ \t]+([\w.]{1,200})[ \t]+import[ \t]+(\w{1,100})", main[:MAIN_BYTES], re.M
    ):
        wanted = [item for item in found if item[1] == name and item[0].rpartition(".")[0] == module.replace(".", "/")]
        if wanted:
            return _chosen(wanted[0], found)

    def place(item: tuple[str, str]) -> tuple[bool, int, int]:
        path = PurePosixPath(item[0])
        return path.stem != item[1], names.index(item[1]), len(path.parts)

    found.sort(key=place)
    if not found:
        others = sorted({name for own in classes.values() for name in own})
        seen = tell("class.seen", listed=", ".join(others[:6])) if others else ""
        shown = " or ".join(names)
        raise BadInput(tell("class.none", names=shown, book=rulebook.id, seen=seen, advice=tell("class.advice")))
    if len(found) > 1 and place(found[0]) == place(found[1]):
        listed = ", ".join(f"{name} in {path}" for path, name in found[:4])
        raise BadInput(tell("class.several", count=len(found), listed=listed, advice=tell("class.advice")))
    return _chosen(found[0], found)


def _chosen(item: tuple[str, str], found: list[tuple[str, str]]) -> tuple[str, list[str]]:
    return f"{item[0]}:{item[1]}", [f"{path}:{name}" for path, name in found if (path, name) != item]


def _named(root: Path, named: str) -> str:
    file, colon, name = named.replace("\\", "/").rpartition(":")
    if not colon or not name.isidentifier() or not file:
        raise BadInput(tell("class.form", named=repr(one_line(named, 200))))
    for relative in _places(file):
        path = contained(root, str(relative))
        if path is None or not path.is_file():
            continue
        if path.suffix == ".py":
            source = read_source(path)
            if name not in source.classes and not source.problem:
                listed = ", ".join(source.classes) or "-"
                raise BadInput(tell("class.not_there", file=relative, name=name, listed=listed))
        return f"{relative}:{name}"
    raise BadInput(tell("class.no_file", named=repr(one_line(named, 200)), file=one_line(file, 200)))


def _places(file: str) -> list[PurePosixPath]:
    """Where a named module may be: as a path or as a dotted name, as source or compiled, in every layout."""
    stem = file.removesuffix(".pyc").removesuffix(".py")
    path = PurePosixPath(stem.removeprefix("./") if "/" in stem or stem != file else stem.replace(".", "/"))
    choices = [PurePosixPath(folder) / path for folder in FOLDERS]
    choices += [PurePosixPath(folder) / path.name for folder in FOLDERS[1:]]
    return [choice.with_name(choice.name + ending) for choice in choices for ending in (".py", ".pyc")]


def _classes(root: Path) -> dict[str, list[str]]:
    """Classes by file. A compiled file shows only its name, which in the contests is that of its class."""
    found: dict[str, list[str]] = {}
    for path in sorted(root.rglob("*.py*")):
        relative = path.relative_to(root).as_posix()
        if FRAMEWORK.match(relative) or path.is_symlink() or not path.is_file():
            continue
        if path.suffix == ".pyc":
            if not path.with_suffix(".py").exists():
                found[relative] = [path.stem]
        elif path.suffix == ".py":
            source = read_source(path)
            # A file that cannot be read to its end may still define the class: Python itself will say what is wrong.
            found[relative] = source.classes or ([path.stem] if source.problem else [])
    return found
