"""Which contests there are: ours, those an installed package offers, and those in folders."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from bciarena.contests.contest import Contest, load, version
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput

GROUP = "bciarena.contests"
"""Entry points of this group name packages that are contest folders."""
FOLDERS = "ARENA_CONTESTS"
"""Environment variable: contest folders, separated as in PATH; child processes inherit it."""
HERE = Path(__file__).parent

CONTESTS: dict[str, Contest] = {}
"""Every known contest by its name."""
RULEBOOKS: dict[str, Rulebook] = {}
"""Every rulebook by its versioned id. A changed reading is a new id, never an edit."""
BROKEN: dict[str, str] = {}
"""Contests that were offered and cannot be used, with the reason."""


def registered(name: str) -> Rulebook:
    """The rulebook of an id with or without its version; never a folder's, whose code would run by being named."""
    found = RULEBOOKS.get(name) or max(
        (one for one in RULEBOOKS.values() if one.name == name), key=version, default=None
    )
    if found is not None:
        return found
    broken = "".join(f"; {one}: {reason}" for one, reason in BROKEN.items() if one == name.split("/")[0])
    raise BadInput(
        f"unknown challenge {name[:200]!r}: choose one of {', '.join(RULEBOOKS)}, "
        f"or give the contest's folder (--challenge DIR){broken}"
    )


def rulebook(name: str) -> Rulebook:
    """The rulebook of an id with or without its version, or of a contest folder.

    Parameters
    ----------
    name : str
        ``imagery/1``; ``imagery`` for the newest reading; ``./mycontest`` for a folder.
    """
    if name not in RULEBOOKS and name not in CONTESTS:
        folder = Path(os.path.expanduser(name))
        if name.startswith((".", "~", os.sep)) or os.path.isfile(folder / "rules.py"):
            return add(load(folder)).rules
    return registered(name)


def known(*names: str | None) -> None:
    """Make contest folders known, so that their ids can be used from here on; None is skipped."""
    for name in names:
        if name is not None:
            rulebook(name)


def contest(which: str | Rulebook) -> Contest:
    """The contest of a rulebook, an id, a name or a folder."""
    return CONTESTS[(which if isinstance(which, Rulebook) else rulebook(which)).name]


def add(found: Contest) -> Contest:
    """Make a contest known in this process and in those it starts; its name must not be another contest's."""
    known = CONTESTS.get(found.name)
    if known is not None and known.folder != found.folder:
        raise BadInput(f"{found.folder}: a contest named {found.name} is known already ({known.folder})")
    CONTESTS[found.name] = found
    RULEBOOKS.update({book.id: book for book in found.rulebooks})
    if found.folder.parent != HERE:
        folders = [one for one in os.environ.get(FOLDERS, "").split(os.pathsep) if one]
        if str(found.folder) not in folders:
            os.environ[FOLDERS] = os.pathsep.join([*folders, str(found.folder)])
    return found


def discover() -> None:
    """Find ours, those of installed packages, and those in folders; once, when the package is imported."""
    for path in sorted(HERE.iterdir()):
        if (path / "rules.py").is_file():
            add(load(path, f"{__package__}.{path.name}"))
    for point in entry_points(group=GROUP):
        spec = find_spec(point.value)
        places = list(spec.submodule_search_locations or []) if spec else []
        _try_adding(point.name, Path(places[0]) if places else Path(point.value), point.value)
    for folder in os.environ.get(FOLDERS, "").split(os.pathsep):
        if folder:
            _try_adding(Path(folder).name, Path(folder), "")


def _try_adding(name: str, folder: Path, package: str) -> None:
    """Add a contest; a broken one must not affect the others."""
    try:
        add(load(folder, package))
    except BadInput as error:
        BROKEN[name] = str(error)
