"""The reference electrode is CPz; what flickers in a trial, for the quality page."""

from bciarena.simulator.brain import Brain, Flicker, Look

from .rules import FREQUENCY_HZ, KEYS, PHASE_RAD


def flicker(code):
    return Flicker(FREQUENCY_HZ[code - 1], PHASE_RAD[code - 1]) if 1 <= code <= KEYS else None


BRAIN = Brain(reference="CPz", look=Look(flicker=flicker, phases_coded=True))
