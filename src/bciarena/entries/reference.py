"""The entries in contests' folders: ``@NAME`` the strong one, ``@NAME-baseline`` the plain one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bciarena.contests import CONTESTS
from bciarena.errors import BadInput

FOLDERS = {"": "reference", "-baseline": "baseline"}
"""What follows the contest's name in an entry's name, and where the entry is in the contest's folder."""


@dataclass(frozen=True)
class Reference:
    """One of our own entries.

    Attributes
    ----------
    name : str
        As it is called, with its @: ``@NAME-baseline``.
    needs_model : bool
        Its folder has a train.py: it must be trained before it can play.
    about : str
        First line of the documentation of its class's module.
    """

    name: str
    challenge: str
    folder: Path
    needs_model: bool
    about: str


def references() -> list[Reference]:
    """Every reference entry that is installed, strong ones first."""
    found = []
    for ending, place in FOLDERS.items():
        for contest in CONTESTS.values():
            folder = contest.folder / place
            if folder.is_dir() and any(folder.rglob("*.py")):
                name, trained = f"@{contest.name}{ending}", (folder / "train.py").is_file()
                found.append(Reference(name, contest.name, folder, trained, _about(folder)))
    return found


def find(name: str) -> Reference:
    """The reference entry of that name."""
    known = references()
    for item in known:
        if item.name == name:
            return item
    raise BadInput(f"unknown entry {name!r}: choose one of {', '.join(item.name for item in known) or 'none yet'}")


def _about(folder: Path) -> str:
    """The first sentence of its main module's docstring."""
    for path in sorted(folder.rglob("AlgorithmImplement*.py")):
        text = path.read_text("utf-8").lstrip()
        if text.startswith('"""'):
            return " ".join(text[3:].split('"""')[0].strip().split("\n\n")[0].split())
    return ""
