"""What is true of one contest's simulated recordings only; its brain.py defines it as BRAIN."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook
from bciarena.protocol.timeline import Timeline
from bciarena.simulator.noise import Floats
from bciarena.simulator.person import Person

if TYPE_CHECKING:
    from bciarena.simulator.make import Order, Summary

Made = tuple[int, Timeline, Floats]
"""Subject, timeline, EEG of shape (channels, samples)."""


class Flicker(NamedTuple):
    """How the stimulus of an opening code flickers."""

    hz: float
    phase_rad: float


@dataclass(frozen=True)
class Look:
    """What the quality page measures.

    Attributes
    ----------
    sides : mapping of str to frozenset of int
        Opening codes of left and right hand imagery.
    rest_kept : bool
        Whether there is EEG before a trial to measure a change against.
    flicker : callable, optional
        What flickers in a trial of that code, if anything does.
    phases_coded : bool
        Whether the phases of the keys differ and agree on one delay.
    state : callable, optional
        Instead of the default measures: the state a trial of that code shows (``eyes_open``, ``eyes_closed``,
        ``generated``).
    top_hz : float
        The recordings are low-passed above this.
    """

    sides: Mapping[str, frozenset[int]] = field(default_factory=dict)
    rest_kept: bool = True
    flicker: Callable[[int], Flicker | None] | None = None
    phases_coded: bool = False
    state: Callable[[int], str] | None = None
    top_hz: float = 45.0


@dataclass(frozen=True)
class Brain:
    """What a contest's brain.py defines as BRAIN; everything has a default.

    Attributes
    ----------
    reference : str
        What the channels are measured against: ``average`` or an electrode's name.
    patients : bool
        Whether patients are among the subjects.
    session : str or None
        Name of the session that all sets share; None if every set is another day.
    drift : float
        How far people drift between sets, as a share of a day's drift.
    finish : callable, optional
        The last thing that is done to the samples, in place.
    recordings : callable, optional
        Makes the whole set in the contest's own way.
    look : Look
        For the quality page.
    """

    reference: str = "average"
    patients: bool = False
    session: str | None = None
    drift: float = 1.0
    finish: Callable[[Floats, Timeline, Person], None] | None = None
    recordings: Callable[[Order, Summary | None, Callable[[str], None]], Iterator[Made]] | None = None
    look: Look = field(default_factory=Look)


def brain_of(challenge: str | Rulebook) -> Brain:
    """The contest's own brain, or the default."""
    return contest(challenge).part("brain", Brain, Brain())
