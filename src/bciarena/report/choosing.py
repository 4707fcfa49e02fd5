"""Where a team's best run counts: what the choice adds, and a lower end that allows for it."""

from __future__ import annotations

from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.report.statistics import SMALLEST

Z95 = NormalDist().inv_cdf(0.975)


def chosen_low(score: float, low: float | None, tries: int) -> float | None:
    """A lower end that also holds for the best of several runs (Bonferroni)."""
    wider = NormalDist().inv_cdf(1 - 0.025 / tries) / Z95
    return None if low is None else max(0.0, score - (score - low) * wider)


def luck_of(error: float | None, tries: int) -> float | None:
    """What choosing the best of so many equal runs adds on average, were their chances independent."""
    return None if tries < 2 or error is None else _expected_best(tries) * error


def block_error(book: Rulebook, sums: dict[str, NDArray[Any]], subject: NDArray[Any]) -> float | None:
    """The standard error of a score, blocks left out one at a time within subjects (jackknife).

    Without the allowances that make an interval wide where blocks are few: those are no part of what luck adds.
    None with fewer than three blocks.

    Parameters
    ----------
    sums : mapping of str to ndarray, shape (1, blocks)
    """
    if subject.size < SMALLEST:
        return None
    counts = np.unique(subject, return_counts=True)[1]
    strata = subject if counts.min() >= 2 else np.zeros_like(subject)
    same = strata[:, None] == strata
    size = same.sum(axis=1)
    weights = np.where(same, (size / (size - 1))[:, None], 1.0) * (1 - np.eye(subject.size))
    whole = {name: np.broadcast_to(column, weights.shape) for name, column in sums.items()}
    left = book.scoring.rates(book, whole, weights, subject)["score"]
    spread = [(left[own].size - 1) * np.var(left[own]) for own in (strata == one for one in np.unique(strata))]
    return float(np.sqrt(sum(spread)))


@cache
def _expected_best(tries: int) -> float:
    """Mean of the largest of so many standard normal numbers."""
    x = np.linspace(-8, 8, 4001)
    upto = np.array([NormalDist().cdf(value) for value in x]) ** tries
    return float(8 - np.trapezoid(upto, x))
