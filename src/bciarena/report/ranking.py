"""Which teams of a board can be told apart, with at most 5 % false splits over the whole board.

If all teams of a set were equally good, it would not matter which of them an outcome came from: outcomes are exchanged
between teams at random within each block, every team is scored again by the contest's own sums, and the range of the
scores is noted. A team differs from the best of its set if it is further below than such ranges reach. Teams that
differ leave the set and it is tested again (Romano and Wolf 2005), so that weak teams do not blur the strong ones. A
set of p of k teams is tested at the level 1 - (1 - LEVEL)^(p/k) (Einot and Gabriel 1975), which over all groups adds up
to LEVEL. A limit that voids a whole score may hide a difference from this test, since exchanging spreads the violations
over many teams; so a team also differs from the best if their intervals, widened for the number of teams, are disjoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook

LEVEL = 0.04
APART = 0.01
"""The chance of a false split by exchanging, and by intervals that do not overlap: together 5 %."""
ROOM = 600_000
"""Outcomes exchanged in one test, over all draws; more only where a small level needs more draws."""
FEWEST, MOST = 59, 20_000

Array = NDArray[Any]


class Place(NamedTuple):
    """The ranks a team shares with those it cannot be told from, and p of the test against the best of them.

    ``tested`` is false where no outcome of the test could have told the teams of this set apart.
    """

    first: int
    last: int
    p: float | None
    tested: bool


def places(
    book: Rulebook, sums: Mapping[str, Array], subject: Array, ends: Array | None = None, seed: int = 0
) -> list[Place]:
    """Places of teams given from best to worst.

    Parameters
    ----------
    sums : mapping of str to ndarray, shape (teams, blocks)
        The contest's sums of every team's blocks, the same blocks for all.
    subject : ndarray of int, shape (blocks,)
        Whose block it is.
    ends : ndarray, shape (teams, 2), optional
        The 95 % interval of every team's score; nan where there is none.
    """
    teams, blocks = next(iter(sums.values())).shape
    scores = _scores(book, sums, subject)
    lows, highs = _widened(scores, ends)
    rng = np.random.default_rng(seed)
    found: list[Place] = []
    reach = np.inf
    while len(found) < teams:
        best = len(found)
        end = best + int(np.sum(scores[best] - scores[best:] <= reach))
        ranges: Array = np.zeros(0)
        first = True
        while end - best > 1:
            level = 1 - (1 - LEVEL) ** ((end - best) / teams)
            own = {name: column[best:end] for name, column in sums.items()}
            ranges = _ranges(book, own, subject, _draws(level, (end - best) * blocks), rng)
            limit = _limit(ranges, level)
            if first:
                reach, first = limit, False
            alike = (scores[best] - scores[best:end] <= limit + 1e-9) & ~(highs[best:end] < lows[best])
            kept = best + int(np.flatnonzero(alike)[-1]) + 1
            if kept == end:
                break
            end = kept
        size = end - best
        tested = size == 1 or smallest_p(size, blocks) <= 1 - (1 - LEVEL) ** (size / teams)
        for index in range(best, end):
            gap = scores[best] - scores[index]
            p = None if index == best else float((1 + np.sum(ranges >= gap - 1e-9)) / (ranges.size + 1))
            found.append(Place(best + 1, end, p, tested))
    return found


def _widened(scores: Array, ends: Array | None) -> tuple[Array, Array]:
    """Intervals that are valid for all teams at once, except with probability APART."""
    if ends is None:
        return np.full(scores.size, -np.inf), np.full(scores.size, np.inf)
    wide = NormalDist().inv_cdf(1 - APART / (2 * scores.size)) / NormalDist().inv_cdf(0.975)
    return scores - wide * (scores - ends[:, 0]), scores + wide * (ends[:, 1] - scores)


def smallest_p(teams: int, blocks: int) -> float:
    """The smallest p that exchanging outcomes within blocks can give: the best is best, the worst worst in each."""
    return float((teams * (teams - 1)) ** (1.0 - blocks)) if teams > 1 else 0.0


def _draws(level: float, size: int) -> int:
    return int(np.clip(max(ROOM // size, 4 / level), FEWEST, 2000 if level > 0.002 else MOST))


def _limit(ranges: Array, level: float) -> float:
    """What the range exceeds with at most this probability, allowing for the finite number of draws."""
    beyond = int(level * (ranges.size + 1) + 1e-9)
    return float(np.sort(ranges)[-beyond]) if beyond else float("inf")


def _scores(book: Rulebook, sums: Mapping[str, Array], subject: Array) -> Array:
    weights = np.ones(next(iter(sums.values())).shape)
    return np.asarray(book.scoring.rates(book, sums, weights, subject)["score"])


def _ranges(book: Rulebook, sums: dict[str, Array], subject: Array, draws: int, rng: np.random.Generator) -> Array:
    """Ranges of the scores of teams whose outcomes were exchanged within blocks, shape (draws,)."""
    teams, blocks = next(iter(sums.values())).shape
    at_once = max(1, min(draws, 2_000_000 // (teams * blocks)))
    found: list[Array] = []
    for begin in range(0, draws, at_once):
        count = min(at_once, draws - begin)
        order = rng.random((count, teams, blocks)).argsort(axis=1)
        mixed = {
            name: np.take_along_axis(np.broadcast_to(column, order.shape), order, axis=1).reshape(-1, blocks)
            for name, column in sums.items()
        }
        found.append(np.ptp(_scores(book, mixed, subject).reshape(count, teams), axis=1))
    return np.concatenate(found)
