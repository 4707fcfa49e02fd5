"""How sure a score is, and whether two runs differ.

Intervals are for new blocks of the same people: blocks are drawn again within each subject. Drawing n - 1 of a
subject's n blocks makes the variance of a mean unbiased however few blocks there are (Rao and Wu 1988), and a t
quantile pays for the few degrees of freedom. Where a subject has only one block, all blocks are drawn as one group;
where there are fewer than three blocks in all, trials. A few blocks may agree by luck: then the interval is at least
as wide as the chance of the trials within them makes it. Tests check coverage and level by simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bciarena.contests import rulebook as find_rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial
from bciarena.report.units import Units, adds_up, blocks_of, trials_of

DRAWS = 2000
SMALLEST = 3  # units needed to say anything about their spread
FEW = 10  # degrees of freedom below which blocks may agree by luck
ENOUGH_TO_SWAP = 6  # fewer blocks than this cannot reach p < .05 by swapping blocks
EXACT_UP_TO = 13  # so many blocks and all sign patterns are tried


class Interval(NamedTuple):
    """A value with its 95 % interval, and what was drawn again to get it; no interval: low and high are None."""

    value: float
    low: float | None
    high: float | None
    unit: str


def trials_from(score: dict[str, Any]) -> list[Trial]:
    """The judged trials of a score file."""
    rate = find_rulebook(score["challenge"]).rate
    return [
        Trial(
            t["subject"],
            t["block"],
            t["trial"],
            t["truth"],
            t["answer"],
            t["correct"],
            None if t["length_s"] is None else round(t["length_s"] * rate),
            t["status"],
            rate,
        )
        for t in score["trials"]
    ]


def intervals(score: dict[str, Any], draws: int = DRAWS, seed: int = 0) -> dict[str, Interval]:
    """95 % intervals of the score and every metric of a run.

    Parameters
    ----------
    score : dict
        The content of score.json.
    """
    book = find_rulebook(score["challenge"])
    trials = trials_from(score)
    known = {"score": float(score["score"]), **{k: float(v) for k, v in score["metrics"].items()}}
    if not trials:
        return {name: Interval(value, None, None, "nothing") for name, value in known.items()}
    units, weights, unit, freedom = _resample(book, trials, draws, np.random.default_rng(seed))
    found = units.rates(weights)
    halves = {name: _t95(freedom) * float(np.std(drawn)) for name, drawn in found.items()}
    if unit not in ("trials", "nothing") and freedom < FEW and adds_up(book):
        for name, half in _trial_halves(book, trials, draws, np.random.default_rng(seed)).items():
            halves[name] = max(halves[name], half)
    result = {}
    for name, value in known.items():
        if name not in found or unit == "nothing":
            result[name] = Interval(value, None, None, "nothing")
            continue
        low, high = max(0.0, value - halves[name]), value + halves[name]
        if name.startswith(("accuracy", "side_accuracy", "fpr")):
            high = min(1.0, high)
        result[name] = Interval(value, low, high, unit)
    return result


def _trial_halves(book: Rulebook, trials: Sequence[Trial], draws: int, rng: np.random.Generator) -> dict[str, float]:
    """Half widths if blocks differed by the chance of their trials alone."""
    units = trials_of(book, trials)
    found = units.rates(_drawn(units.block, draws, rng))
    return {name: _t95(len(trials) - units.subject.size) * float(np.std(drawn)) for name, drawn in found.items()}


def bootstrap_interval(score: dict[str, Any]) -> tuple[float, float] | None:
    """The 95 % interval of the score alone; None where nothing can be said."""
    found = intervals(score)["score"]
    return None if found.low is None or found.high is None else (found.low, found.high)


def _resample(
    book: Rulebook, trials: Sequence[Trial], draws: int, rng: np.random.Generator
) -> tuple[Units, NDArray[np.float64], str, int]:
    """Units, how often each draw takes each unit (draws, units), what the units are, and degrees of freedom."""
    units = blocks_of(book, trials)
    counts = np.unique(units.subject, return_counts=True)[1]
    blocks = units.subject.size
    if blocks < SMALLEST:
        if not adds_up(book) or len(trials) < SMALLEST:
            return units, np.ones((1, blocks)), "nothing", 1
        units = trials_of(book, trials)
        return units, _drawn(units.block, draws, rng), "trials", len(trials) - blocks
    if counts.min() >= 2:
        return units, _drawn(units.subject, draws, rng), "blocks within subjects", blocks - len(counts)
    return units, _drawn(np.zeros(blocks, int), draws, rng), "blocks", blocks - 1


def _drawn(strata: NDArray[Any], draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Weights (draws, units): n - 1 of the n units of each stratum, with replacement, scaled to a total of n."""
    weights = np.ones((draws, strata.size))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        n = members.size
        if n > 1:
            weights[:, members] = rng.multinomial(n - 1, np.full(n, 1 / n), size=draws) * (n / (n - 1))
    return weights


def _t95(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, max(freedom, 1)))


class Difference(NamedTuple):
    """Second run less first: value with interval, p of a two-sided paired permutation test, and its unit."""

    value: float
    low: float | None
    high: float | None
    p: float
    unit: str

    @property
    def distinguishable(self) -> bool:
        return self.p < 0.05


def compare(one: dict[str, Any], two: dict[str, Any], draws: int = DRAWS, seed: int = 0) -> Difference:
    """Whether two runs on the same data differ in score.

    Under the null hypothesis it does not matter which run an outcome came from: outcomes are swapped between the
    runs at random, whole blocks where there are at least six, single trials otherwise.
    """
    book = find_rulebook(one["challenge"])
    first, second = trials_from(one), trials_from(two)
    rng = np.random.default_rng(seed)
    a, weights, unit, freedom = _resample(book, first, draws, rng)
    b = (blocks_of if a.whole else trials_of)(book, second)
    value = float(two["score"]) - float(one["score"])
    low = high = None
    if unit != "nothing":
        spread = np.std(b.rates(weights)["score"] - a.rates(weights)["score"])
        low, high = value - _t95(freedom) * float(spread), value + _t95(freedom) * float(spread)
    if a.whole and a.subject.size < ENOUGH_TO_SWAP and adds_up(book):
        a, b = trials_of(book, first), trials_of(book, second)
    p = _swap_p(a, b, draws, rng)
    return Difference(value, low, high, p, "blocks" if a.whole else "trials")


def _swap_p(a: Units, b: Units, draws: int, rng: np.random.Generator) -> float:
    def gap(take: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score of a mixture of the two runs less the score of its mirror image, per row."""
        return np.asarray(a.mixed(b, take)["score"] - a.mixed(b, 1 - take)["score"])

    observed = abs(gap(np.ones((1, a.block.size)))[0])
    gaps = np.abs(gap((rng.random((draws, a.block.size)) < 0.5).astype(float)))
    return float((1 + np.sum(gaps >= observed - 1e-9)) / (draws + 1))


def paired_permutation(one: Sequence[float], other: Sequence[float], draws: int = 10_000, seed: int = 0) -> float:
    """Two-sided p that two runs on the same blocks differ in mean block score, by flipping signs.

    Parameters
    ----------
    one, other : sequences of float, equally long
        Block scores in the same order; all that a leaderboard keeps.
    """
    difference = np.asarray(one, float) - np.asarray(other, float)
    n = difference.size
    if n <= EXACT_UP_TO:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(max(n, 1))[None, :n]) & 1)
        return float(np.mean(np.abs(signs @ difference) >= abs(difference.sum()) - 1e-9)) if n else 1.0
    signs = np.random.default_rng(seed).integers(0, 2, size=(draws, n)) * 2 - 1
    return float((1 + np.sum(np.abs(signs @ difference) >= abs(difference.sum()) - 1e-9)) / (draws + 1))
