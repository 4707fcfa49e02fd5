"""From judged trials to a score, by sums.

Every trial gives a few whole numbers (its *marks*), a block is the sum of its trials' marks, and all rates are made
from block sums: those of a block alone give its row, those of a subject's blocks the subject's row, all together the
score. Intervals and tests resample blocks or trials and call the same functions, so that they can never disagree
with the score about what is measured.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.trial import Score, Trial, by_block

if TYPE_CHECKING:
    from bciarena.contests.rulebook import Rulebook

Array = NDArray[Any]
Sums = Mapping[str, Array]
"""Named sums of blocks, each of shape (draws, blocks)."""


class Scoring(ABC):
    """How a contest scores; its score.py overrides `marks` and `rates`, and the rest where it must.

    Attributes
    ----------
    own : str
        The rate that is the score of a block or subject, where the run's score is something else.
    block_columns, subject_columns : tuple of str
        Further rates that block and subject rows show.
    hidden : frozenset of str
        Rates for rows only, which are not metrics of the run.
    shares : frozenset of str
        Rates between 0 and 1: shown as per cent, with intervals within that range.
    decided_by : mapping of str to str
        The mark (0 or 1) that decides a rate, where that is not whether the trial is right.
    knobs : mapping of str to float
        The rates an `example` is made from, with usual values.
    """

    own = "score"
    block_columns: tuple[str, ...] = ("accuracy", "mean_length_s")
    subject_columns: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    shares: frozenset[str] = frozenset({"accuracy"})
    decided_by: Mapping[str, str] = MappingProxyType({})
    knobs: Mapping[str, float] = MappingProxyType({"accuracy": 0.8})

    @abstractmethod
    def marks(self, rules: Rulebook, trial: Trial) -> dict[str, int]:
        """What one trial contributes, in whole numbers; the same names for every trial."""

    def block(self, rules: Rulebook, marks: Mapping[str, Array]) -> dict[str, Array]:
        """Sums of a block from its trials' marks, each of shape (..., trials); adds them up unless overridden."""
        return {name: column.sum(axis=-1) for name, column in marks.items()}

    @abstractmethod
    def rates(self, rules: Rulebook, sums: Sums, weights: Array, subject: Array) -> dict[str, Array]:
        """Score and metrics of each draw.

        Parameters
        ----------
        sums : mapping of str to ndarray, shape (draws, blocks)
        weights : ndarray, shape (draws, blocks)
            How often each block counts; ones for the run itself.
        subject : ndarray of int, shape (blocks,)
            Whose block it is.

        Returns
        -------
        dict of str to ndarray, shape (draws,), "score" among them
        """

    def example(self, rules: Rulebook, shares: Mapping[str, float], length_n: int, count: int) -> list[Trial]:
        """A block of ``count`` trials, all of the same length, in which the `knobs` have the given shares."""
        found = []
        for index, right in enumerate(spread(shares["accuracy"], count)):
            truth, other = neighbours(rules, index)
            found.append(example_trial(rules, index, truth, truth if right else other, length_n))
        return found

    def restated(self, rules: Rulebook, own: Sequence[Trial]) -> list[Trial]:
        """A block's trials as the score file shows them, where the score changes what they mean."""
        return list(own)

    def notes(self, rules: Rulebook, rates: Mapping[str, Any], sums: Sums) -> list[str]:
        """What readers of the score should know."""
        return []

    def score(self, rules: Rulebook, trials: Sequence[Trial]) -> Score:
        """The score of a run with its rows."""
        groups = by_block(trials)
        sums = self.block_sums(rules, groups)
        who = np.array([subject for subject, _, _ in groups], dtype=np.int64)

        def over(chosen: Any) -> dict[str, Any]:
            """Rates over some of the blocks."""
            part = {name: column[:, chosen] for name, column in sums.items()}
            size = who[chosen].size
            found = self.rates(rules, part, np.ones((1, size), dtype=np.int64), who[chosen])
            return {name: value[0].item() for name, value in found.items()}

        blocks, subjects = [], []
        for index, (subject, block, _) in enumerate(groups):
            own = over(slice(index, index + 1))
            row = {"subject": subject, "block": block, "score": own[self.own]}
            blocks.append({**row, **{name: own[name] for name in self.block_columns}})
        for number in dict.fromkeys(who.tolist()):
            own = over(np.flatnonzero(who == number))
            subjects.append({"subject": number, "score": own[self.own], **{k: own[k] for k in self.subject_columns}})
        rates = over(slice(None))
        notes = self.notes(rules, rates, sums)
        total = rates.pop("score")
        metrics = {name: value for name, value in rates.items() if name not in self.hidden}
        shown = [trial for _, _, own_trials in groups for trial in self.restated(rules, own_trials)]
        return Score(total, metrics, subjects, blocks, shown, notes)

    def block_sums(self, rules: Rulebook, groups: Sequence[tuple[int, int, list[Trial]]]) -> dict[str, Array]:
        """Sums of every block of a run, each of shape (1, blocks)."""
        found = [self.block(rules, self.marks_of(rules, own)) for _, _, own in groups]
        names = found[0] if found else self.block(rules, self.marks_of(rules, ()))
        return {name: np.array([[one[name] for one in found]]) for name in names}

    def marks_of(self, rules: Rulebook, trials: Sequence[Trial]) -> dict[str, Array]:
        """The marks of some trials as columns, each of shape (trials,)."""
        rows = [self.marks(rules, trial) for trial in trials]
        names = rows[0] if rows else self.marks(rules, blank_trial(rules))
        return {name: np.array([row[name] for row in rows], dtype=np.int64) for name in names}


def spread(share: float, count: int) -> list[bool]:
    """``share`` of ``count`` places, evenly spread."""
    hits = round(share * count)
    return [(place + 1) * hits // count > place * hits // count for place in range(count)]


def neighbours(rules: Rulebook, index: int) -> tuple[str, str]:
    """A truth and another answer."""
    words = list(rules.vocabulary)
    return words[index % len(words)], words[(index + 1) % len(words)]


def example_trial(rules: Rulebook, index: int, truth: str, answer: str, length_n: int) -> Trial:
    """A trial of an example, answered in time."""
    return Trial(1, 1, index + 1, truth, answer, answer == truth, length_n, "in_time", rules.rate)


def blank_trial(rules: Rulebook) -> Trial:
    """A trial without an answer, to learn the names of the marks."""
    truth = next(iter(rules.vocabulary))
    return Trial(1, 1, 1, truth, None, False, 0, "missing", rules.rate)


def ratio(top: Array, bottom: Array) -> Array:
    """``top / bottom``, and 0 where there is nothing to divide by."""
    top, bottom = np.broadcast_arrays(top, bottom)
    return np.divide(top, bottom, out=np.zeros(top.shape), where=bottom > 0)


def pooled(column: Array, weights: Array) -> Array:
    """A column summed over blocks, shape (draws,): from left to right, so that the last bit is the same everywhere."""
    total: Array = np.zeros(weights.shape[0], dtype=np.result_type(column, weights))
    for index in range(weights.shape[1]):
        total = total + column[:, index] * weights[:, index]
    return total


def mean_over(column: Array, weights: Array) -> Array:
    """The mean of a column over blocks, shape (draws,)."""
    return ratio(pooled(column, weights), pooled(np.ones_like(weights), weights))


def pooled_by(column: Array, weights: Array, group: Array) -> Array:
    """A column summed over the blocks of each group, shape (groups, draws)."""
    groups = [np.flatnonzero(group == one) for one in dict.fromkeys(group.tolist())]
    sums = [pooled(column[:, chosen], weights[:, chosen]) for chosen in groups]
    return np.array(sums) if sums else np.zeros((0, weights.shape[0]))


def mean_ratio(tops: Array, bottoms: Array) -> Array:
    """Mean over groups of ``tops / bottoms``, groups without a bottom left out; shape (draws,).

    Whole numbers (of the run itself, not resampled) are divided exactly and rounded once.
    """
    if np.issubdtype(tops.dtype, np.integer) and tops.shape[1] == 1:
        return np.array([float(_exact_mean(tops[:, 0], bottoms[:, 0]))])
    total, count = np.zeros(tops.shape[1]), np.zeros(tops.shape[1])
    for top, bottom in zip(tops, bottoms, strict=True):
        total = total + ratio(top, bottom)
        count = count + (bottom > 0)
    return ratio(total, count)


def mean_exceeds(tops: Array, bottoms: Array, limit: Fraction) -> NDArray[np.bool_]:
    """Whether `mean_ratio` is above a limit, decided exactly (a mean of .1, .1, .1 is not above .10)."""
    value = mean_ratio(tops, bottoms)
    above = value > float(limit)
    for draw in np.flatnonzero(np.abs(value - float(limit)) < 1e-9):  # floats cannot tell these apart
        above[draw] = _exact_mean(tops[:, draw], bottoms[:, draw]) > limit
    return np.asarray(above)


def _exact_mean(tops: Array, bottoms: Array) -> Fraction:
    parts = [Fraction(a) / Fraction(b) for a, b in zip(tops.tolist(), bottoms.tolist(), strict=True) if b > 0]
    return sum(parts, Fraction(0)) / len(parts) if parts else Fraction(0)
