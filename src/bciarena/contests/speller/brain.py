"""Recorded against CPz, which is missing from the contest's table of channels: it is that cap's reference."""

from __future__ import annotations

from bciarena.contests.speller.rules import FREQUENCY_HZ, KEYS, PHASE_RAD
from bciarena.simulator.brain import Brain, Flicker, Look


def flicker(code: int) -> Flicker | None:
    """The key's frequency and phase."""
    return Flicker(FREQUENCY_HZ[code - 1], PHASE_RAD[code - 1]) if 1 <= code <= KEYS else None


BRAIN = Brain(reference="CPz", look=Look(flicker=flicker, phases_coded=True))
