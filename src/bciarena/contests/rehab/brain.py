"""One session with patients among the subjects, dead channels, and zeros where a trial has no imagery.

All 77 electrodes are given and the text does not name the reference: the average.
"""

from __future__ import annotations

from bciarena.contests.rehab.rules import CLASSES
from bciarena.protocol import Timeline
from bciarena.simulator.brain import Brain, Look
from bciarena.simulator.noise import Floats
from bciarena.simulator.person import Person

DEAD_SHARE = 0.15
"""Share of subjects with one or more channels that recorded nothing."""
LATER_TODAY = 0.4
"""Test blocks follow the training blocks in one session: less drift than between days."""


def finish(eeg: Floats, timeline: Timeline, person: Person) -> None:
    """Cue and rest within trials become 0 (R20: samples outside trials are kept), and so do dead channels."""
    for step in timeline.of("cue", "rest"):
        eeg[:, timeline.at(step.onset_s) : timeline.at(step.end_s)] = 0
    eeg[dead_channels(person, eeg.shape[0])] = 0


def dead_channels(person: Person, channels: int) -> list[int]:
    """The text: in a very few subjects some channels recorded nothing."""
    rng = person.rng("dead channels")
    count = int(rng.integers(1, 4)) if rng.random() < DEAD_SHARE else 0
    return [int(row) for row in rng.choice(channels, count, replace=False)]


BRAIN = Brain(
    reference="average",
    patients=True,
    session="rehab",
    drift=LATER_TODAY,
    finish=finish,
    look=Look(
        sides={side: frozenset(k for k, v in CLASSES.items() if v.startswith(side)) for side in ("left", "right")},
        rest_kept=False,
    ),
)
