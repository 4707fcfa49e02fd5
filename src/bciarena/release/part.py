"""What a contest's release.py offers as RELEASE: its sets, and who may see what of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook

Role = Literal["train", "scored", "hidden"]
"""Given with its truth; given masked, as the stream masks it; not given at all (for training on the server)."""
Made = dict[str, Path]
"""Data folders by set."""


@dataclass(frozen=True)
class Asked:
    """What a contest needs to know to make its sets from recordings of people.

    ``blocks`` are how many blocks of each set are wanted; as many as the recordings allow where a set is not named.
    ``learn_from`` are other recordings of the same people, for generators to learn; None: a part of the source.
    ``deep`` is whether to use generators that are trained for minutes; None where they can be.
    """

    source: str
    work: Path
    names: Mapping[str, str]
    blocks: Mapping[str, int]
    seed: int = 0
    deep: bool | None = None
    learn_from: str | None = None
    say: Callable[[str], None] = lambda words: None


@dataclass(frozen=True)
class Release:
    """The sets of a contest.

    Attributes
    ----------
    sets : mapping of str to Role
        In the order in which a person's blocks are dealt out; how many each gets, the protocol says.
    made : callable, optional
        Where sets are not blocks of one person each: makes them from recordings of people and returns them with what
        was done, by set.
    """

    sets: Mapping[str, Role]
    made: Callable[[Asked], tuple[Made, Mapping[str, list[str]]]] | None = None


def release_of(book: Rulebook) -> Release:
    """The contest's own; BadInput in one line where it has none."""
    return contest(book).part("release", Release)
