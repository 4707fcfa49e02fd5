"""The reference entries that come with the platform: ``@imagery``, ``@imagery-baseline``..., one folder each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bciarena.contests import RULEBOOKS
from bciarena.errors import BadInput

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Reference:
    """One of our own entries.

    Attributes
    ----------
    name : str
        With its sign: ``@imagery-baseline``.
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
    for ending in ("", "-baseline"):
        for book in RULEBOOKS.values():
            folder = HERE / (book.name + ending).replace("-", "_")
            if folder.is_dir() and any(folder.rglob("*.py")):
                found.append(
                    Reference(
                        f"@{book.name}{ending}", book.name, folder, (folder / "train.py").is_file(), _about(folder)
                    )
                )
    return found


def find(name: str) -> Reference:
    """The reference entry of that name."""
    known = references()
    for item in known:
        if item.name == name:
            return item
    raise BadInput(f"unknown entry {name!r}: choose one of {', '.join(item.name for item in known) or 'none yet'}")


def _about(folder: Path) -> str:
    """The first sentence its main module says about itself."""
    for path in sorted(folder.rglob("AlgorithmImplement*.py")):
        text = path.read_text("utf-8").lstrip()
        if text.startswith('"""'):
            return " ".join(text[3:].split('"""')[0].strip().split("\n\n")[0].split())
    return ""
