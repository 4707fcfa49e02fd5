"""An unpacked entry, as plain values that the box, the checker and the site share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Dialect = Literal["A", "B", "C", "D"]


@dataclass(frozen=True)
class Package:
    """An entry's own part, ready to be played.

    Attributes
    ----------
    root : Path
        Folder with the entry's own files only; its working directory when it runs.
    target : str
        File and class, relative to root: ``Algorithm/AlgorithmImplementMI.py:AlgorithmImplementMI``.
    python : str or None
        The version it names, ``3.8``; ``platform`` for our own reference entries; None: any.
    requirements : Path or None
        Its requirements.txt, if it has one that asks for anything.
    digest : str
        Over all its files: the same content gives the same digest.
    exact : bool
        Whether it must be that version: it was asked for, or the entry is compiled.
    needs_model : bool
        Whether it cannot run without ``arena train`` before.
    contest_python : str
        The version its contest ran, for an entry that names none.
    problems : tuple of str
        What was found to be wrong when an uploaded archive was read.
    image : str
        The image whose libraries it expects.
    unpacked : int
        Bytes its archive held, whether they belong to the entry or not.
    """

    name: str
    root: Path
    dialect: Dialect
    target: str
    python: str | None
    requirements: Path | None
    digest: str
    warnings: tuple[str, ...] = ()
    exact: bool = False
    needs_model: bool = False
    contest_python: str = ""
    image: str = ""
    problems: tuple[str, ...] = ()
    unpacked: int = 0


@dataclass(frozen=True)
class Interpreter:
    """A Python to run an entry with.

    ``readable`` are the folders a box must show read-only for it to work: the base installation and the environment.
    """

    executable: Path
    version: str
    readable: tuple[Path, ...]
    warnings: tuple[str, ...] = ()
