"""The measurements of `arena bench`: ratios within one run, because machines are noisy; never timed tests.

A module here has ``main() -> list[dict]``: one row per measurement, each with a key ``measure``.
"""

from bciarena.contests import RULEBOOKS
from bciarena.contests.rulebook import Rulebook


def sample() -> Rulebook:
    """A rulebook to measure the machinery with: the first one known."""
    return next(iter(RULEBOOKS.values()))


def onset(book: Rulebook) -> int:
    """A code that opens a trial which asks for an answer."""
    return min(set(book.truth) - book.idle)
