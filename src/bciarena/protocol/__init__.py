"""What a subject goes through in an experiment, as data; each contest's own is in its folder (protocol.py).

>>> block = timelines("imagery", "train", subject=1, seed=7)[0]
>>> [step.kind for step in block.steps[2:5]]
['cue', 'imagine', 'rest']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bciarena.contests import contest, rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.protocol.seeds import stream
from bciarena.protocol.timeline import Kind, Script, Step, Timeline


class Split(NamedTuple):
    """One set of a contest: how many blocks a subject has, and whose recordings they are."""

    blocks: int
    people: str  # sets with the same word have the same people
    first_block: int = 1  # where in a session the set begins


class Place(NamedTuple):
    """Which block is to be planned, and the random numbers it draws from."""

    rng: np.random.Generator
    split: str
    subject: int
    block: int
    session_block: int  # counted over the sets of one session
    first: bool
    last: bool
    drawn: np.random.Generator | None = None  # the same in all blocks of a person; None: the order of the text


class Screening(NamedTuple):
    """A block the lab is asked to show; the options are those given on the command line."""

    split: str | None
    subject: int
    block: int
    seed: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Protocol:
    """What a contest's protocol.py offers as PROTOCOL.

    Attributes
    ----------
    splits : mapping of str to Split
        The sets of the contest.
    block : callable
        Plans one block of one subject.
    mixed : callable, optional
        Instead of ``block`` where a block mixes people: plans all blocks of a set, from random numbers, the set's
        name, the number of people and of blocks.
    people : int
        How many subjects are simulated by default.
    most_people : int, optional
        The largest number that the codes allow.
    scored : str
        The set that is simulated and shown by default.
    practice : mapping
        What the companion package's practice set is made of, as arguments of ``simulator.Order``.
    screen : callable, optional
        Plans what the lab shows if that is not a block of a set; returns None if it is.
    options : frozenset of str
        Options of `arena lab` that ``screen`` understands.
    drawable : bool
        Whether the text keeps something in a fixed order that ``block`` draws instead where ``Place.drawn`` is given.
    demo : mapping
        What `arena lab --demo` plays: subject and seed of the virtual subject, entry, options.
    """

    splits: Mapping[str, Split]
    block: Callable[[Place], Timeline] | None = None
    mixed: Callable[[np.random.Generator, str, int, int], list[Timeline]] | None = None
    people: int = 3
    most_people: int | None = None
    scored: str = "test"
    practice: Mapping[str, Any] = field(default_factory=dict)
    screen: Callable[[Screening], Timeline | None] | None = None
    options: frozenset[str] = frozenset()
    drawable: bool = False
    demo: Mapping[str, Any] = field(default_factory=dict)


def protocol_of(challenge: str | Rulebook) -> Protocol:
    """The experiment of a contest; BadInput where it has none."""
    return contest(challenge).part("protocol", Protocol)


def split_of(challenge: str, split: str) -> Split:
    """The named set of a contest."""
    splits = protocol_of(challenge).splits
    if split not in splits:
        raise BadInput(f"{rulebook(challenge).name}: unknown split {split!r}: choose one of {', '.join(splits)}")
    return splits[split]


def timelines(
    challenge: str, split: str, subject: int = 1, seed: int = 0, blocks: int | None = None, people: int | None = None,
    drawn: bool = False,
) -> list[Timeline]:  # fmt: skip
    """Every block a subject goes through in a set; where blocks mix people, every block of the set.

    Parameters
    ----------
    blocks : int, optional
        How many; default: what the text says.
    people : int, optional
        How many people the blocks mix, if they do.
    drawn : bool
        Whether to draw, for each person, what the text keeps in a fixed order.
    """
    name, chosen, own = rulebook(challenge).name, split_of(challenge, split), protocol_of(challenge)
    count = chosen.blocks if blocks is None else blocks
    if count < 1:
        raise BadInput(f"{name}: {count} blocks cannot be made; give 1 or more")
    if drawn and not own.drawable:
        raise BadInput(f"{name}: its text keeps nothing in a fixed order; leave out --drawn")
    most = own.most_people
    if own.mixed is not None:
        people = own.people if people is None else people
        if people < 1 or (most is not None and people > most):
            raise BadInput(f"{name}: {people} people; the codes number 1 to {most}")
        return own.mixed(stream(seed, name, split, "timeline"), split, people, count)
    if own.block is None:
        raise BadInput(f"{name}: its protocol.py plans no blocks")
    made = []
    for block in range(1, count + 1):
        rng = stream(seed, name, split, "timeline", subject, block)
        order = stream(seed, name, chosen.people, "order", subject) if drawn else None
        at = chosen.first_block + block - 1
        made.append(own.block(Place(rng, split, subject, block, at, block == 1, block == count, order)))
    return made


def screened(challenge: str, asked: Screening) -> Timeline:
    """What the lab shows; BadInput where there is no such block."""
    book, own = rulebook(challenge), protocol_of(challenge)
    for name in asked.options:
        if name not in own.options:
            raise BadInput(f"--{name}: {book.name} has no such option")
    if asked.subject < 1 or (own.most_people is not None and asked.subject > own.most_people):
        raise BadInput(f"--subject {asked.subject}: give a number from 1{_up_to(own.most_people)}")
    if asked.split is not None:
        split_of(book.id, asked.split)
    if asked.block < 1:
        raise BadInput(f"--block {asked.block}: blocks are numbered from 1")
    special = own.screen(asked) if own.screen else None
    if special is not None:
        return special
    found = timelines(book.id, asked.split or own.scored, asked.subject, asked.seed)
    if not 1 <= asked.block <= len(found):
        raise BadInput(f"--block {asked.block}: {book.id} has blocks 1 to {len(found)}")
    return found[asked.block - 1]


def _up_to(most: int | None) -> str:
    return f" to {most}" if most is not None else ""


__all__ = [
    "Kind",
    "Place",
    "Protocol",
    "Screening",
    "Script",
    "Split",
    "Step",
    "Timeline",
    "protocol_of",
    "screened",
    "split_of",
    "stream",
    "timelines",
]
