"""An interpreter for an entry: a Python of the version it names, with what its requirements or its image ask for.

Environments are kept in the user's cache folder, one per Python and list of libraries. They are filled by pip in a box
of its own (entries.installing), so nothing an entry brings or asks for is executed outside a box.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bciarena.entries import library
from bciarena.entries.config import version
from bciarena.entries.images import Image, attempts, find_image
from bciarena.entries.images import images as known_images
from bciarena.entries.index import keep_wheels
from bciarena.entries.installing import Attempt, install
from bciarena.entries.interpreters import Found, base_for, find_python, nearest_python
from bciarena.entries.missing import imported, missing
from bciarena.entries.requirements import Wanted, brought_by, names, read_requirements
from bciarena.entries.room import RECORD, make_room, mark_used, size_mib
from bciarena.errors import BadInput, Fault
from bciarena.package import Interpreter, Package
from bciarena.places import cache_folder

RECIPE = 2  # goes into the key: a change in how environments are made gives new ones


def interpreter_for(
    package: Package,
    python: str | None = None,
    on_progress: Callable[[str], None] | None = None,
    *,
    image: str | None = None,
    images: Mapping[str, Any] | None = None,
    requirements: Path | None = None,
    debugging: bool = False,
) -> Interpreter:
    """The interpreter to run an entry with; makes its environment where it is not there yet.

    What decides: ``python``; the version the entry names; its image's; for the plain dialect without requirements this
    platform's own Python; else the version its contest ran, or the nearest one found, with a warning.

    Parameters
    ----------
    image : str, optional
        Libraries of a contest's year (entries.images), instead of those of the image that the entry names.
    images : mapping, optional
        Images that belong to the contest, as tables.
    requirements : Path, optional
        A list of libraries beside the entry's own.
    debugging : bool
        A person's own entry, run without a box; where bubblewrap is missing it is also installed without one.
    """
    chosen, warnings = _image(package, image, images)
    wanted = python or package.python or (chosen.python if chosen else None)
    more = added(requirements)
    bare = package.requirements is None and requirements is None and chosen is None
    if wanted == "platform" or (wanted is None and package.dialect == "D" and bare):
        found = platform_interpreter()
        return replace(found, warnings=_lacking(package, found))
    if chosen and not (python or package.python):
        base, warning = nearest_python(chosen.python)
    else:
        base, warning = base_for(package, python)
    warnings += [warning] * bool(warning)
    own = read_requirements(package.requirements, package.root) if package.requirements else Wanted()
    own = own.without_refused() if requirements else own
    lines = list(dict.fromkeys([*own.lines(base.version), *more.lines(base.version)]))
    modules = frozenset(imported(package))
    tries = attempts(base.version, lines, chosen, modules)
    spare = names(lines) - brought_by(modules)
    folder = environment(base, tries, on_progress or _say, debugging, spare)
    found = Interpreter(folder / "bin" / "python", base.full, (*base.prefixes, folder))
    left = [f"{words}; left out, since nothing here imports it" for words in _record(folder).get("left_out", [])]
    return replace(found, warnings=(*warnings, *own.notes, *more.notes, *left, *_lacking(package, found)))


def libraries_for(image: str | None, requirements: Path | None, python: str | None) -> Path:
    """The environment of an image or a list alone, without an entry."""
    chosen = find_image(image) if image else None
    number = python or (chosen.python if chosen else None)
    if number is None:
        raise BadInput("name an --entry, an --image, or --requirements with --python")
    base = find_python(version(number))
    return environment(base, attempts(base.version, added(requirements).lines(base.version), chosen, frozenset()), _say)


def _image(package: Package, named: str | None, contests: Mapping[str, Any] | None) -> tuple[Image | None, list[str]]:
    if named:
        return find_image(named, contests), []
    known = known_images(contests)
    usual = None
    if package.requirements is None and package.dialect != "D":  # a plain entry counts on this platform's libraries
        usual = next((one for one in known.values() if one.default), None)
    if package.image in known:
        return known[package.image], []
    if package.image:
        listed = ", ".join(known)
        words = f"its configuration names the image {package.image!r}, which is not known here (known: {listed})"
        return usual, [words]
    return usual, []


def added(path: Path | None) -> Wanted:
    """The list that ``--requirements`` names."""
    if path is None:
        return Wanted()
    if not path.is_file():
        raise BadInput(f"{path}: no such file; --requirements takes a list of libraries")
    read = read_requirements(path, path.parent)
    if read.refused:
        raise BadInput(f"{path}: cannot be used: {'; '.join(read.refused)}")
    return read


def _lacking(package: Package, interpreter: Interpreter) -> tuple[str, ...]:
    """One warning for all missing modules; no error, since an entry may do without some of them."""
    lacking = missing(package, interpreter)
    if package.python == "platform":  # one of ours: not its fault, and the command line knows which extra brings it
        for name in sorted(library.needs(package.root) & lacking.keys()):
            raise ModuleNotFoundError(f"{package.name} needs {lacking[name]}", name=name)
        return ()
    if not lacking:
        return ()
    listed = ", ".join(name if name == brings else f"{name} ({brings})" for name, brings in lacking.items())
    return (f"imports what its Python does not have: {listed}; list them in a file for --requirements",)


def platform_interpreter() -> Interpreter:
    """This platform's own Python with all that is installed beside it."""
    shown = [Path(sys.base_prefix), Path(sys.base_exec_prefix), Path(sys.prefix)]
    shown += [Path(place) for place in sys.path if Path(place).name in ("site-packages", "dist-packages")]
    version = ".".join(map(str, sys.version_info[:3]))
    return Interpreter(Path(sys.executable), version, tuple(dict.fromkeys(shown)))


def environments_folder() -> Path:
    """Where environments are kept: XDG_CACHE_HOME/bciarena/envs."""
    return cache_folder() / "envs"


def _record(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / RECORD).read_text("utf-8"))
    return record


def environment(
    base: Found,
    attempts: list[Attempt],
    on_progress: Callable[[str], None],
    debugging: bool = False,
    spare: frozenset[str] = frozenset(),
) -> Path:
    """The folder of the environment for these lines; made beside and renamed, so it is whole or not there.

    Packages of ``spare`` names are left out where they cannot be had.
    """
    asked = [part for one in attempts for part in (*sorted(one.lines), "with", *sorted(one.caps), "or")]
    asked += ["spare", *sorted(spare)] if spare else []
    key = hashlib.sha256("\n".join([str(RECIPE), base.full, str(base.executable), *asked]).encode())
    folder = environments_folder() / f"py{base.version}-{key.hexdigest()[:16]}"
    if folder.is_dir():
        mark_used(folder)
        return folder
    with _locked(folder.with_name(f"{folder.name}.lock")):
        if not folder.is_dir():  # another process may have made it while this one waited
            on_progress(f"preparing Python {base.full} with {', '.join(attempts[0].lines)} (once; kept in {folder})")
            for old in make_room(folder.parent):
                on_progress(f"removed {old}, which nobody had used for long")
            boxed = not (debugging and shutil.which("bwrap") is None)
            _make(base, attempts, folder, on_progress, boxed, spare)
    return folder


def _make(
    base: Found,
    attempts: list[Attempt],
    folder: Path,
    on_progress: Callable[[str], None],
    boxed: bool,
    spare: frozenset[str],
) -> None:
    from bciarena.sandbox.errand import workplace

    try:
        with workplace(f".{folder.name}.", folder.parent) as part:
            work, made = part / "work", part / "made"
            work.mkdir()
            wheels, left = install(base, attempts, work, on_progress, boxed, spare)
            _run([base.executable, "-I", "-m", "venv", "--without-pip", made], base)
            site = made / "lib" / f"python{base.version}" / "site-packages"
            if site.is_dir():
                site.rmdir()
            (work / "site").rename(site)
            record: dict[str, Any] = {"python": base.full, "asked": attempts[0].lines}
            record |= {"wheels": wheels, "left_out": left, "mib": size_mib(made)}
            (made / RECORD).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
            keep_wheels(work / "wheels", wheels)
            os.chmod(made, 0o755)
            made.rename(folder)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Fault(f"libraries cannot be installed: no room left on the disk of {folder.parent}") from error
        raise


def _run(command: list[str | Path], base: Found) -> None:
    """Run a command that makes an environment; a fault of ours if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, errors="replace", umask=0o022)
    except subprocess.TimeoutExpired as error:
        raise Fault(f"making an environment for Python {base.version} took longer than 300 s") from error
    except OSError as error:
        raise BadInput(f"{base.executable}: cannot be started ({error.strerror})") from error
    if done.returncode:
        raise Fault(f"{base.executable} cannot make an environment: {done.stderr.strip()[-300:]}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "w")  # noqa: SIM115
    except OSError as error:
        raise BadInput(f"{path.parent}: cannot be written ({error.strerror}); set XDG_CACHE_HOME") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(f"arena: {text}", file=sys.stderr, flush=True)
