"""Stopping: when to answer, so that the challenge's own score is highest.

An *objective* is the score as a function of what was answered and when; a :class:`StoppingPolicy` answers
once the expected gain of its best answer reaches a threshold that runs linearly from a first to a last time
(and, if forced, answers at the last time in any case); :func:`fit_policy` picks the policy with the best
objective on out-of-fold posteriors. A fixed answering time is a member of the family, and is preferred unless
thresholds are better on groups (people, blocks) left out.

Objectives: :class:`Itr` (imagery: rest of 0.5 s; with ``floor_s=3`` liveness; with ``max_fpr`` the speller),
:class:`Weighted` sums of them (liveness), :class:`Target` (turing's 80 % rule), :class:`Points` (rehab).

>>> policy = fit_policy(posteriors, truth, times_s, Itr(3, rest_s=0.5), group=subject)  # doctest: +SKIP
>>> policy.decide(posterior, t_s)  # an index, or None: wait                            # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bciarena.errors import BadInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Objective(Protocol):
    """Score of one group of trials (a block, or all trials of a person)."""

    def __call__(self, truth: Ints, answer: Ints, length_s: Floats) -> float:
        """Score from class indices (-1: none) and the seconds used by each trial, all of shape (trials,)."""
        ...


def itr_bits_per_min(accuracy: float, classes: int, length_s: float) -> float:
    """Information transfer rate (Wolpaw et al. 2002); 0 below chance."""
    if accuracy < 1 / classes or length_s <= 0:
        return 0.0
    bits = math.log2(classes)
    if accuracy > 0:
        bits += accuracy * math.log2(accuracy)
    if accuracy < 1:
        bits += (1 - accuracy) * math.log2((1 - accuracy) / (classes - 1))
    return max(0.0, 60 * bits / length_s)


@dataclass(frozen=True)
class Itr:
    """Information transfer rate in bits per minute.

    Parameters
    ----------
    classes : int
        Number M of answers in the formula.
    rest_s, floor_s : float
        Added to the mean length; least length of a trial.
    missing_s : float
        Length of a trial that got no answer.
    view : tuple of int, optional
        Class index -> what counts as the same answer (liveness: real or not, whichever person).
    max_fpr : float, optional
        Share of idle trials (truth -1) that may get an answer. Above it the score is negative, so that a
        search can still improve.
    prior_trials : float
        Chance-level trials mixed into the accuracy, so that a few lucky trials do not look perfect.
    """

    classes: int
    rest_s: float = 0.0
    floor_s: float = 0.0
    missing_s: float = 4.0
    view: tuple[int, ...] | None = None
    max_fpr: float | None = None
    prior_trials: float = 0.0

    def __call__(self, truth: Ints, answer: Ints, length_s: Floats) -> float:
        """See :class:`Objective`."""
        idle = truth < 0
        if self.max_fpr is not None and idle.any():
            fpr = float(np.mean(answer[idle] >= 0))
            if fpr > self.max_fpr:
                return -fpr
        if idle.all():
            return 0.0
        truth, answer, length_s = truth[~idle], answer[~idle], length_s[~idle]
        length = np.maximum(np.where(answer < 0, self.missing_s, length_s), self.floor_s)
        if self.view is not None:
            merged = np.array((*self.view, -1))
            truth, answer = merged[truth], merged[answer]
        hits = float(np.sum(truth == answer)) + self.prior_trials / self.classes
        return self.rate(hits / (len(truth) + self.prior_trials), float(length.mean()))

    def rate(self, accuracy: float, length_s: float) -> float:
        """Bits per minute at an accuracy and a mean length, the rest not yet in it."""
        return itr_bits_per_min(accuracy, self.classes, length_s + self.rest_s)


@dataclass(frozen=True)
class Weighted:
    """A weighted sum of objectives, such as liveness' 0.9 ITR(real) + 0.1 ITR(subject)."""

    parts: tuple[tuple[float, Objective], ...]

    def __call__(self, truth: Ints, answer: Ints, length_s: Floats) -> float:
        """See :class:`Objective`."""
        return sum(weight * part(truth, answer, length_s) for weight, part in self.parts)


@dataclass(frozen=True)
class Target:
    """Turing's rule: 200 N / L once a share of the block's trials is right, else nothing.

    The expected score of a block of ``block_n`` trials that draws from the group's trials: the chance that at
    least ``ceil(share * block_n)`` are right (binomial), times the rate at which right answers come. A smooth
    substitute for the step, which a few training blocks could not locate.
    """

    share: float = 0.8
    block_n: int = 20
    missing_s: float = 5.0

    def __call__(self, truth: Ints, answer: Ints, length_s: Floats) -> float:
        """See :class:`Objective`."""
        need = math.ceil(self.share * self.block_n)
        p = (float(np.sum(truth == answer)) + 0.5) / (len(truth) + 1)
        length = float(np.where(answer < 0, self.missing_s, length_s).mean())
        passed = sum(
            math.comb(self.block_n, k) * p**k * (1 - p) ** (self.block_n - k) for k in range(need, self.block_n + 1)
        )
        return passed * 200 * p / max(length, 1e-3)


@dataclass(frozen=True)
class Points:
    """Mean points per trial: ``table[truth][answer]``; nothing for no answer (rehab)."""

    table: tuple[tuple[float, ...], ...]

    def __call__(self, truth: Ints, answer: Ints, length_s: Floats) -> float:
        """See :class:`Objective`."""
        said = answer >= 0
        return float(np.asarray(self.table)[truth[said], answer[said]].sum() / max(len(truth), 1))


@dataclass(frozen=True)
class StoppingPolicy:
    """Answer once the best answer's expected gain reaches the threshold of that time.

    Parameters
    ----------
    first_s, last_s : float
        No answer before ``first_s``; from ``last_s`` on the threshold is ``end``, or none if ``forced``.
    start, end : float
        Threshold at ``first_s`` and at ``last_s``, linear between them. ``start`` above 1 with ``forced``
        is a fixed answering time.
    forced : bool
        Whether an answer is given at ``last_s`` in any case (never for a speller with idle time).
    gain : tuple, optional
        ``gain[truth][answer]`` in 0..1; without it the gain is the posterior itself.
    idle : int
        Index of the idle class, never answered; -1: there is none.
    """

    first_s: float
    last_s: float
    start: float
    end: float
    forced: bool = True
    gain: tuple[tuple[float, ...], ...] | None = None
    idle: int = -1

    def decide(self, posterior: ArrayLike, t_s: float) -> int | None:
        """Answer for a posterior (classes,) after ``t_s`` seconds of data, or None to wait."""
        best, confidence = _best_answer(np.asarray(posterior, dtype=float), self.gain, self.idle)
        return int(best) if confidence >= self._threshold(np.array([t_s]))[0] else None

    def play(self, posteriors: ArrayLike, times_s: ArrayLike) -> tuple[Ints, Floats]:
        """Answers (-1: none) and seconds used for posteriors (trials, times, classes)."""
        best, confidence = _best_answer(np.asarray(posteriors, dtype=float), self.gain, self.idle)
        return self._play(best, confidence, np.asarray(times_s, dtype=float))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> StoppingPolicy:
        """The policy that ``to_dict`` described."""
        gain = values.get("gain")
        return cls(**{**values, "gain": None if gain is None else tuple(map(tuple, gain))})

    def _threshold(self, times_s: Floats) -> Floats:
        span = max(self.last_s - self.first_s, 1e-9)
        level = self.start + (self.end - self.start) * np.clip((times_s - self.first_s) / span, 0, 1)
        level = np.where(times_s < self.first_s - 1e-9, np.inf, level)
        return np.where(times_s >= self.last_s - 1e-9, -np.inf if self.forced else self.end, level)

    def _play(self, best: Ints, confidence: Floats, times_s: Floats) -> tuple[Ints, Floats]:
        stop = confidence >= self._threshold(times_s)
        at = stop.argmax(axis=1)
        answered = stop.any(axis=1)
        rows = np.arange(len(best))
        return np.where(answered, best[rows, at], -1), np.where(answered, times_s[at], times_s[-1])


def _best_answer(posterior: Floats, gain: Sequence[Sequence[float]] | None, idle: int) -> tuple[Ints, Floats]:
    """Best answer and its expected gain over the last axis."""
    expected = posterior if gain is None else posterior @ np.asarray(gain, dtype=float)
    if idle >= 0:
        expected = expected.copy()
        expected[..., idle] = -np.inf
    return expected.argmax(axis=-1), expected.max(axis=-1)


def fit_policy(
    posteriors: ArrayLike,
    truth: ArrayLike,
    times_s: ArrayLike,
    objective: Objective,
    *,
    group: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    forced: bool = True,
    gain: Sequence[Sequence[float]] | None = None,
    idle: int = -1,
    grid_n: int = 12,
) -> StoppingPolicy:
    """The policy with the best weighted mean objective over groups.

    Parameters
    ----------
    posteriors : array, shape (trials, times, classes)
        Out-of-fold, calibrated (:class:`~bciarena.decoders.evidence.LogPool`).
    truth : array of int, shape (trials,)
        Class indices; -1 for an idle trial.
    times_s : array, shape (times,)
        Seconds of data used at each decision time, all of them allowed by the rules.
    objective : Objective
    group : array, shape (trials,), optional
        What the score is taken over before it is averaged: the person (or the block) of each trial.
    weight : array, shape (trials,), optional
        Weight of each trial's group. Giving a person's own trials more weight than others' yields a personal policy
        that leans on the common one.
    forced, gain, idle
        See :class:`StoppingPolicy`. ``idle`` is the class index that stands for "no answer wanted".
    grid_n : int
        Steps of the search in time and in threshold.

    Notes
    -----
    With three groups or more, thresholds must beat the best fixed time on groups left out one at a time;
    otherwise the fixed time is returned.
    """
    post = np.asarray(posteriors, dtype=float)
    labels = np.asarray(truth, dtype=int)
    grid_s = np.asarray(times_s, dtype=float)
    if post.ndim != 3 or post.shape[:2] != (len(labels), len(grid_s)):
        raise BadInput(
            f"posteriors have shape {post.shape}; expected ({len(labels)} trials, {len(grid_s)} times, classes)"
        )
    if len(labels) == 0 or not np.isfinite(post).all():
        raise BadInput("no trials, or NaN among the posteriors")
    table = None if gain is None else tuple(tuple(float(v) for v in row) for row in gain)
    groups, member = np.unique(np.zeros(len(labels)) if group is None else np.asarray(group), return_inverse=True)
    given = np.ones(len(labels)) if weight is None else np.asarray(weight, dtype=float)
    share = np.array([given[member == g].mean() for g in range(len(groups))])
    best, confidence = _best_answer(post, table, idle)

    family = _policies(confidence, grid_s, forced, table, idle, grid_n)
    scores = np.zeros((len(family), len(groups)))
    for i, policy in enumerate(family):
        answer, length = policy._play(best, confidence, grid_s)
        for g in range(len(groups)):
            rows = member == g
            scores[i, g] = objective(labels[rows], answer[rows], length[rows])
        # Where waiting costs nothing (a floor, no time term), a later decision is safer.
        scores[i] += 1e-6 * length.mean()
    fixed = np.array([p.forced and p.start > 1 for p in family])
    return family[_choose(scores, share, fixed)]


def fit_expected(
    posteriors: ArrayLike, times_s: ArrayLike, objective: Itr, *, group: ArrayLike, grid_n: int = 8
) -> StoppingPolicy:
    """The policy of which calibrated posteriors expect most, as a mean over groups; it always answers.

    No answer is compared with the truth, which is in the calibration already: whether a few dozen answers were right
    is mostly chance, and the best of many policies would be the luckiest; their probabilities of being right hold
    much less of it.

    Parameters
    ----------
    posteriors : array, shape (trials, times, classes)
    times_s : array, shape (times,)
    objective : Itr
    group : array, shape (trials,)
        The person of each trial.
    grid_n : int
        Steps of the search in time and in threshold.
    """
    post, grid_s = np.asarray(posteriors, dtype=float), np.asarray(times_s, dtype=float)
    confidence = post.max(axis=-1)
    groups, member = np.unique(np.asarray(group), return_inverse=True)
    share = (member[None] == np.arange(len(groups))[:, None]) / np.bincount(member)[:, None]
    family = _policies(confidence, grid_s, True, None, -1, grid_n)
    rows = np.arange(len(confidence))
    scores = []
    for policy in family:
        at = (confidence >= policy._threshold(grid_s)).argmax(axis=1)
        sure, length = share @ confidence[rows, at], share @ grid_s[at]
        scores.append(np.mean([objective.rate(p, t) for p, t in zip(sure, length, strict=True)]))
    return family[int(np.argmax(scores))]


def _choose(scores: Floats, share: Floats, fixed: NDArray[np.bool_]) -> int:
    """Index of the best policy; the best fixed time unless thresholds win on left-out groups."""
    overall = scores @ share
    if not fixed.any():
        return int(overall.argmax())
    best_fixed = int(np.flatnonzero(fixed)[overall[fixed].argmax()])
    if scores.shape[1] >= 3:
        lead = 0.0
        for g in range(scores.shape[1]):
            rest = overall - scores[:, g] * share[g]
            free = int(rest.argmax())
            tied = int(np.flatnonzero(fixed)[rest[fixed].argmax()])
            lead += (scores[free, g] - scores[tied, g]) * share[g]
        if lead <= 0:
            return best_fixed
    return int(overall.argmax())


def _policies(
    confidence: Floats,
    times_s: Floats,
    forced: bool,
    gain: tuple[tuple[float, ...], ...] | None,
    idle: int,
    grid_n: int,
) -> list[StoppingPolicy]:
    """The family searched: fixed times, and lines between thresholds seen in the data."""
    steps = np.unique(np.linspace(0, len(times_s) - 1, min(2 * grid_n, len(times_s))).astype(int))
    family: list[StoppingPolicy] = []
    if forced:
        family += [StoppingPolicy(t, t, 2.0, 2.0, True, gain, idle) for t in times_s.tolist()]
    # Levels at equal steps of log-odds between the median and the highest confidence seen.
    low, high = np.quantile(confidence, [0.2, 0.999])
    odds = np.linspace(_logit(float(low)), _logit(float(high)), grid_n)
    levels = (1 / (1 + np.exp(-odds))).tolist()
    for i, first in enumerate(steps[:-1]):
        if i > len(steps) // 2:
            break
        for last in steps[i + 1 :]:
            for a, start in enumerate(levels):
                for end in levels[max(0, a - 4) : a + 1 : 2]:
                    family.append(
                        StoppingPolicy(float(times_s[first]), float(times_s[last]), start, end, forced, gain, idle)
                    )
    return family


def _logit(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))
