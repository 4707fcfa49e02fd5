"""Contests and their rulebooks: ours, those an installed package offers, and those in folders.

>>> rulebook("imagery").limit_s
4.0
"""

from bciarena.contests.contest import Contest, load
from bciarena.contests.registry import (
    BROKEN,
    CONTESTS,
    FOLDERS,
    HERE,
    RULEBOOKS,
    add,
    contest,
    discover,
    known,
    registered,
    rulebook,
)
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial, TrialSpan

discover()  # when all names above are there: a contest's modules use them

__all__ = [
    "BROKEN",
    "CONTESTS",
    "FOLDERS",
    "HERE",
    "RULEBOOKS",
    "Contest",
    "Rulebook",
    "Trial",
    "TrialSpan",
    "add",
    "contest",
    "known",
    "load",
    "registered",
    "rulebook",
]
