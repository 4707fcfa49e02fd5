"""What of a made-up recording is true of one contest only; its brain.py offers it as BRAIN."""

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
        Instead of the usual measures: the state a trial of that code shows (``eyes open``, ``eyes closed``,
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
    """What a contest's brain.py offers as BRAIN; all of it has a default.

    Attributes
    ----------
    reference : str
        What the channels are measured against: ``average`` or an electrode's name.
    patients : bool
        Whether patients are among the subjects.
    session : str or None
        Sets of one session share the sitting: its name; None when every set is another day.
    drift : float
        How far people drift between sets, in parts of a day's drift.
    finish : callable, optional
        What the recording does to the samples at last; changes them in place.
    recordings : callable, optional
        Makes the whole set instead, where it is made in its own way.
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
    """What a contest says about its recordings, or the usual."""
    return contest(challenge).part("brain", Brain, Brain())
