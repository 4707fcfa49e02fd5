"""What a box shows of an interpreter: its modules and libraries, without programs, and without this platform's code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import bciarena
from bciarena.package import Interpreter
from bciarena.places import cache_folder
from bciarena.sandbox.libraries import system_tree

OURS = Path(bciarena.__file__).resolve().parent
LOADER_CACHE = Path("/etc/ld.so.cache")
Shown = list[tuple[Path, Path]]  # source, place in the box
FOR_ENTRIES = (("bciarena", ("decode", "files", "deep")), ("pandas", ()))
"""What entries may count on in the platform's own Python: packages with their extras."""
OF_THE_SITE = ("bciarena", ("report", "jobs", "site", "lab", "boards", "ray", "moabb", "bench", "dev"))
UNUSED_PARTS = ("test", "idlelib", "ensurepip", "config-3*")  # of a Python, in its library


def interpreter_places(interpreter: Interpreter) -> tuple[Shown, list[Path]]:
    """(source, place) of everything an interpreter needs, and the places among them that stay covered."""
    folders = outermost(part for path in interpreter.readable for part in _parts(path))
    links = outermost(_links(interpreter.executable))
    tree = system_tree(folders, interpreter.executable, cache_folder() / "system")
    shown = [(tree / place.relative_to("/"), place) for place in _bottom(tree, [*folders, *links])]
    shown += [(path, path) for path in [*folders, *links]]
    if LOADER_CACHE.is_file():
        shown.append((LOADER_CACHE, LOADER_CACHE))
    hidden = {*_own_code(folders), *_unused(interpreter.readable)}
    return shown, sorted(place for place in hidden if not place.is_symlink())  # bubblewrap would follow a link


def without_the_site(interpreter: Interpreter) -> list[Path]:
    """What a ranked box leaves out, so that its interpreter is small enough for a copy of its own.

    Parts of Python that no entry uses and, of the platform's own Python, packages that only our pages, queue and tests
    need. What an operator installed beside them stays.
    """
    unused = [
        part for path in interpreter.readable for name in UNUSED_PARTS for part in path.glob(f"lib/python3*/{name}")
    ]
    return unused + (_site_only() if interpreter.executable == Path(sys.executable) else [])


@cache
def _site_only() -> list[Path]:
    found: dict[str, Distribution] = {canonicalize_name(one.metadata["Name"]): one for one in distributions()}

    def closure(waiting: Iterable[tuple[str, tuple[str, ...]]]) -> set[str]:
        """Names of packages and of all that they need."""
        seen, todo = set(), list(waiting)
        while todo:
            name, extras = one = todo.pop()
            if one in seen or name not in found:
                continue
            seen.add(one)
            for need in map(Requirement, found[name].requires or ()):
                if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                    todo.append((canonicalize_name(need.name), tuple(sorted(need.extras))))
        return {name for name, _ in seen}

    ours = closure([OF_THE_SITE])
    wanted = closure([*FOR_ENTRIES, *((name, ()) for name in found if name not in ours)])
    tops = {
        name: {Path(str(one.locate_file(file.parts[0]))) for file in one.files or () if file.parts[0] != ".."}
        for name, one in found.items()
    }
    kept = set().union(*(tops[name] for name in wanted))
    return sorted(set().union(*(tops[name] for name in found if name not in wanted)) - kept)


def _parts(path: Path) -> Iterator[Path]:
    """A Python's prefix without its programs, manuals and headers; any other folder as it is."""
    if not (path / "bin").is_dir():
        yield path
    elif path == Path("/usr"):
        yield from sorted(path.glob("lib/python3*"))
        yield from sorted(path.glob("local/lib/python3*"))
    else:
        parts = (path / "lib", path / "lib64", path / "pyvenv.cfg")
        yield from (part for part in parts if part.exists() and not part.is_symlink())


def outermost(places: Iterable[Path]) -> list[Path]:
    """The places without those that lie inside another, which is shown as a whole."""
    kept: list[Path] = []
    for place in sorted(set(places), key=lambda place: len(place.parts)):
        if not any(other in place.parents for other in kept):
            kept.append(place)
    return sorted(kept)


def _bottom(tree: Path, beside: Sequence[Path]) -> list[Path]:
    """The folders of a tree that hold files, as places in the box: only these are bound.

    Where something of ``beside`` lies within one, its items are bound one by one, since nothing can be mounted in what
    is bound read-only: the loader of aarch64 lies in /usr/lib itself, as Python's modules do.
    """
    waiting = outermost(Path("/", Path(where).relative_to(tree)) for where, _, files in os.walk(tree) if files)
    bound = []
    while waiting:
        place = waiting.pop()
        if any(place in other.parents for other in beside):
            waiting += [place / item.name for item in (tree / place.relative_to("/")).iterdir()]
        else:
            bound.append(place)
    return sorted(bound)


def _own_code(folders: Sequence[Path]) -> Iterator[Path]:
    """This platform's own code, wherever it was installed: with the simulator an entry could make the truth again."""
    for folder in folders:
        for pattern in ("", "python3*/site-packages/", "python3*/dist-packages/"):
            yield from folder.glob(f"{pattern}bciarena*")
            yield from folder.glob(f"{pattern}__editable__*bciarena*")
        if folder == OURS or folder in OURS.parents:
            yield OURS


def _unused(readable: Sequence[Path]) -> Iterator[Path]:
    """Packages of a base installation that its virtual environment does not use."""
    settings = [path / "pyvenv.cfg" for path in readable if (path / "pyvenv.cfg").is_file()]
    if not settings or any("system-site-packages = true" in path.read_text() for path in settings):
        return
    for path in readable:
        if not (path / "pyvenv.cfg").is_file() and (path / "bin").is_dir() and path != Path("/usr"):
            yield from path.glob("lib/python3*/site-packages")


def _links(executable: Path) -> list[Path]:
    """An executable and the chain of symbolic links to the real one, each as a file the box must show."""
    path = executable
    chain = [path]
    for _ in range(16):
        if not path.is_symlink():
            break
        target = Path(os.readlink(path))
        path = Path(os.path.normpath(path.parent / target))
        chain.append(path)
    return chain
