"""Measures, taken as ratios within one run because machines are noisy: `arena bench`, never timed tests.

A module here has ``main() -> list[dict]``: one row per measure, each with a key ``measure``.
"""

from bciarena.contests import RULEBOOKS
from bciarena.contests.rulebook import Rulebook


def sample() -> Rulebook:
    """A rulebook to measure the machinery with: the first one known."""
    return next(iter(RULEBOOKS.values()))


def onset(book: Rulebook) -> int:
    """A code that opens a trial which asks for an answer."""
    return min(set(book.truth) - book.idle)
