"""Recorded against CPz, which is missing from the contest's table of channels: it is that cap's reference."""

from __future__ import annotations

from bciarena.contests.turing.rules import SSVEP_HZ
from bciarena.simulator.brain import Brain, Flicker, Look


def flicker(code: int) -> Flicker | None:
    """What the task of a code looks at; all keys start at phase 0."""
    return Flicker(SSVEP_HZ[code & 7], 0.0) if code < 128 and code & 7 in SSVEP_HZ else None


def _codes(task: int) -> frozenset[int]:
    return frozenset(code for code in range(128) if code & 7 == task)


BRAIN = Brain(reference="CPz", look=Look(sides={"left": _codes(1), "right": _codes(2)}, flicker=flicker))
