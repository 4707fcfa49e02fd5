"""Recorded against CPz, which is missing from the contest's table of channels: it is that cap's reference."""

from bciarena.contests.imagery.rules import CLASSES
from bciarena.simulator.brain import Brain, Look

BRAIN = Brain(
    reference="CPz",
    look=Look(
        sides={side: frozenset(k for k, v in CLASSES.items() if v.startswith(side)) for side in ("left", "right")}
    ),
)
