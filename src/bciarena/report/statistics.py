"""How certain a score is, and whether two runs differ.

The first interval is for new blocks of the same people. Blocks are resampled within each subject: n - 1 of a subject's
n blocks, which makes the variance of a mean unbiased however few blocks there are (Rao and Wu 1988), with a t quantile
for the few degrees of freedom. Where a subject has only one block, all blocks are resampled as one group. A few blocks
may agree by luck and never show what is rare, so the interval also contains every value that chance in the trials makes
plausible (see `inversion`). With fewer than three blocks only this is used, and blocks are assumed to differ by
UNMEASURED_SD. A second interval is for new people, where there are three or more: subjects are left out one at a time
(jackknife), with a t quantile. No interval exceeds what is possible on these trials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bciarena.contests import registered as find_rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial
from bciarena.report.inversion import inverted, kinds, successes
from bciarena.report.units import Units, extremes, guessed, units_of

DRAWS = 2000
SMALLEST = 3  # blocks, or people, needed to say anything about their spread
FEW = 16  # degrees of freedom, or right and wrong trials, below which chance alone may hide the spread
BLOCK_SD = 0.35  # log odds by which blocks of a person usually differ: the least that few blocks are taken to do
UNMEASURED_SD = 0.8  # the same where it cannot be measured, to be on the safe side: see docs/report.md
WITHIN = 0.08  # correlation of answer times within a block that is assumed where it cannot be measured
TRIALS_DRAWN = 400

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """A value with its 95 % interval for the same people, what was resampled, and the interval for new people.

    Ends are None where nothing can be said.
    """

    value: float
    low: float | None
    high: float | None
    unit: str
    new_low: float | None = None
    new_high: float | None = None


def trials_from(score: dict[str, Any]) -> list[Trial]:
    """The judged trials of a score file, without those left out as invalid."""
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
        if t["status"] != "invalid"
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
    if len(trials) < SMALLEST:
        return {name: Interval(value, None, None, "nothing") for name, value in known.items()}
    units, rng = units_of(book, trials), np.random.default_rng(seed)
    possible = extremes(units)
    unit, freedom = _drawable(units)
    halves = dict.fromkeys(known, 0.0)
    if unit != "trials":
        drawn = units.rates(_drawn(_strata(units, unit), draws, rng))
        halves = {name: _t95(freedom) * float(np.std(drawn[name])) for name in known if name in drawn}
    chance: dict[str, tuple[float, float]] = {}
    if freedom < FEW:
        again = units.replayed(_trial_picks(units, TRIALS_DRAWN, rng))
        alike = len(trials) / units.sizes.size - 1 if unit == "trials" else 0.0
        wide = _t95(len(trials) - units.sizes.size) * float(np.sqrt(1 + alike * WITHIN))
        halves = {name: max(half, wide * float(np.std(again[name]))) for name, half in halves.items() if name in again}
    limited = units.book.scoring.own != "score"  # a limit can void the score; blocks resampled may never reach it
    if freedom < FEW or limited or _rarely(units):
        chance = inverted(units, block_sd(units.sizes.size) if freedom < FEW or limited else 0.0, rng)
    people = _people_halves(units)
    result = {}
    void = not np.isclose(known["score"], units.rates(np.ones((1, units.sizes.size)))["score"][0])
    for name, value in known.items():
        if name not in possible or (void and name == "score"):  # a void run's answers say nothing about its score of 0
            result[name] = Interval(value, None, None, "nothing")
            continue
        least, most = chance.get(name, (value, value))
        low, high = min(value - halves[name], least), max(value + halves[name], most)
        new_low = new_high = None
        if people is not None:
            new_low, new_high = min(low, value - people[name]), max(high, value + people[name])
        floor, ceiling = (0.0, np.inf) if name.endswith("_s") else possible[name]
        floor, ceiling = min(floor, value), max(ceiling, value)
        ends = [None if end is None else float(np.clip(end, floor, ceiling)) for end in (low, high, new_low, new_high)]
        result[name] = Interval(value, ends[0], ends[1], unit, ends[2], ends[3])
    return result


def block_sd(blocks: int) -> float:
    """By how much the blocks of a person are taken to differ in a run of so many blocks, in log odds."""
    return UNMEASURED_SD if blocks < SMALLEST else BLOCK_SD


def score_ends(score: dict[str, Any], keep: Callable[[int, int], bool] | None = None) -> list[float | None]:
    """The 95 % intervals of the score alone, for the same people and for new ones: low, high, low, high.

    ``keep``: of the blocks for which it is true, given subject and block; all of them unless told.
    """
    if keep is not None:
        score = score | {"trials": [trial for trial in score["trials"] if keep(trial["subject"], trial["block"])]}
        units = units_of(find_rulebook(score["challenge"]), trials_from(score))
        own = float(units.rates(np.ones((1, units.sizes.size)))["score"][0]) if units.trials else 0.0
        score |= {"score": own, "metrics": {}}
    found = intervals(score)["score"]
    return [found.low, found.high, found.new_low, found.new_high]


class Bias(NamedTuple):
    """How much of a score is due to few trials, and what guessing at the same times gives on average."""

    excess: float
    guess: float


def bias_of(book: Rulebook, trials: Sequence[Trial], seed: int = 0) -> Bias | None:
    """By how much few trials raise the score on average, and the mean score of a guesser; None without trials.

    An information rate is convex in the accuracy: chance raises it, the more the fewer trials a block has
    (Miller 1955 on the bias of information estimates). The excess is estimated by resampling trials.
    """
    if not trials:
        return None
    units, rng = units_of(book, trials), np.random.default_rng(seed)
    rate = book.scoring.own  # without a limit that voids the whole run
    again = units.replayed(_trial_picks(units, TRIALS_DRAWN, rng))[rate]
    own = units.rates(np.ones((1, units.sizes.size)))[rate][0]
    excess = float(again.mean() - own)
    if abs(excess) < 3 * float(again.std()) / TRIALS_DRAWN**0.5:
        excess = 0.0  # within the noise of the resampling
    return Bias(excess, float(guessed(units, TRIALS_DRAWN, rng).mean()))


def _drawable(units: Units) -> tuple[str, int]:
    """What can be resampled, and its degrees of freedom."""
    counts = np.unique(units.subject, return_counts=True)[1]
    blocks = units.sizes.size
    if blocks < SMALLEST:
        return "trials", 0
    return ("blocks within subjects", blocks - len(counts)) if counts.min() >= 2 else ("blocks", blocks - 1)


def _strata(units: Units, unit: str) -> NDArray[np.int64]:
    return units.subject if unit == "blocks within subjects" else np.zeros(units.sizes.size, np.int64)


def _rarely(units: Units) -> bool:
    """Whether right or wrong trials of a kind are so few that resampling blocks may miss them."""
    odd = kinds(units) % 2
    for mark in {"", *units.book.scoring.decided_by.values()}:
        right = successes(units, mark)
        for one in np.unique(odd):
            hits = int(right[odd == one].sum())
            if min(hits, int((odd == one).sum()) - hits) < FEW:
                return True
    return False


def _drawn(strata: NDArray[np.int64], draws: int, rng: np.random.Generator) -> Floats:
    """Weights (draws, blocks): n - 1 of the n blocks of each stratum, with replacement, scaled to a total of n."""
    weights = np.ones((draws, strata.size))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        n = members.size
        if n > 1:
            weights[:, members] = rng.multinomial(n - 1, np.full(n, 1 / n), size=draws) * (n / (n - 1))
    return weights


def _people_halves(units: Units) -> dict[str, float] | None:
    """Half widths for new people: every subject left out in turn; None with fewer than three."""
    found = left_out(units.book, {name: column[None] for name, column in units.sums.items()}, units.subject)
    if found is None:
        return None
    people = len(np.unique(units.subject))
    return {name: _t95(people - 1) * _jackknife(rates) for name, rates in found.items()}


def left_out(book: Rulebook, sums: dict[str, NDArray[Any]], subject: NDArray[Any]) -> dict[str, Floats] | None:
    """Rates (subjects,) without each subject in turn, the others weighted up; None below three subjects."""
    people = np.unique(subject)
    if people.size < SMALLEST:
        return None
    weights = (subject[None, :] != people[:, None]) * (people.size / (people.size - 1))
    whole = {name: np.broadcast_to(column, weights.shape) for name, column in sums.items()}
    return book.scoring.rates(book, whole, weights, subject)


def _jackknife(rates: Floats) -> float:
    return float(np.sqrt((rates.size - 1) * np.var(rates)))


def _t95(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1), 0.975))


def _trial_picks(units: Units, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Trials resampled within their blocks, (draws, trials)."""
    sizes = units.sizes[units.block]
    inside = (rng.random((draws, sizes.size)) * sizes).astype(np.int64)
    return units.starts[units.block] + inside


class Difference(NamedTuple):
    """Second run minus first: value with interval, and p of the same test; None with too few blocks.

    Runs that are alike in every block have a p of 1 and no interval.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None
    unit: str

    @property
    def distinguishable(self) -> bool:
        return self.p is not None and self.p < 0.05


def compare(one: dict[str, Any], two: dict[str, Any], draws: int = DRAWS, seed: int = 0) -> Difference:
    """Whether two runs on the same data differ in score.

    Blocks are resampled, the same ones for both runs, and the difference is compared with its standard error by a t
    test; interval and p come from that one test, so they cannot disagree. A few blocks may agree by luck: the standard
    error is at least what chance in the trials makes it. With fewer than three blocks there is no test.
    """
    from scipy.special import stdtr

    book = find_rulebook(one["challenge"])
    a, b = units_of(book, trials_from(one)), units_of(book, trials_from(two))
    value = float(two["score"]) - float(one["score"])
    unit, freedom = _drawable(a)
    if unit == "trials":
        return Difference(value, None, None, None, unit)
    rng = np.random.default_rng(seed)
    weights = _drawn(_strata(a, unit), draws, rng)
    errors = [(float(np.std(b.rates(weights)["score"] - a.rates(weights)["score"])), freedom)]
    if freedom < FEW:
        picks = _trial_picks(a, TRIALS_DRAWN, rng)
        spread = float(np.std(b.replayed(picks)["score"] - a.replayed(picks)["score"]))
        errors.append((spread, len(a.trials) - a.sizes.size))
    if value == 0 and not any(
        error for error, _ in errors
    ):  # alike wherever one looks: no spread to make an interval of
        return Difference(value, None, None, 1.0, unit)
    half = max(_t95(free) * error for error, free in errors)
    chances = [2 * float(stdtr(max(free, 1), -abs(value) / error)) for error, free in errors if error > 0]
    p = 1.0 if value == 0 else max(chances, default=0.0)
    return Difference(value, value - half, value + half, p, unit)
