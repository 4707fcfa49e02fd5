"""A block as one decision problem: what a right answer is worth just now, in seconds, and when to give one.

A block passes when ceil(0.8 n) of its n trials are right, and is then worth 200 N / L. How long to look at one
trial depends on where the block stands: with mistakes to spare one can hurry, one short of failing one must be sure,
and after the target, or when it is out of reach, time is all that is left to save, if anything.

Two parts, both solved backwards:

- :func:`worth` over the trials of a block: the expected score for every number of answers, of right ones and of
  seconds used. The number of trials is not announced (3-5 rounds of 4-6), so every length is weighed by its
  probability, given that the block is still going on. From it follows the *price* of a right answer: how many seconds
  it is worth.
- :class:`Patience` over the moments of a trial: for each price, the value of looking on, regressed on the posterior
  (Longstaff & Schwartz 2001, Rev. Financ. Stud. 14(1)). Answer when being right now is worth more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bciarena.contests.turing.soccer import ROUNDS, TRIALS

Floats = NDArray[np.float64]

PRICES_S = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Seconds that a right answer may be worth."""
STEP_S, STEPS = 0.5, 240
SHARE_N, SHARE_D, COEFFICIENT = 4, 5, 200.0
LONGEST = ROUNDS[1] * TRIALS[1]
FLICKER = slice(2, 6)
RIDGE = 1e-3


@cache
def lengths() -> Floats:
    """Probability of each number of trials, (LONGEST + 1,), if all numbers of rounds and trials are equally likely."""
    found = np.zeros(LONGEST + 1)
    sizes = range(TRIALS[0], TRIALS[1] + 1)
    for rounds in range(ROUNDS[0], ROUNDS[1] + 1):
        for each in product(sizes, repeat=rounds):
            found[sum(each)] += 1 / len(sizes) ** rounds
    return np.asarray(found / found.sum())


def target(trials: int) -> int:
    """Right answers that pass a block of so many trials."""
    return -(-SHARE_N * trials // SHARE_D)


def worth(accuracy: Sequence[float], length_s: Sequence[float]) -> Floats:
    """Expected score still to come, (answers, right answers, seconds / STEP_S), of the best way to play on.

    Parameters
    ----------
    accuracy, length_s : sequences of float
        The ways to play a trial: share right and mean seconds, such as one for each price.
    """
    chance = lengths()
    value = np.zeros((LONGEST + 2, LONGEST + 2, STEPS))
    grid = np.arange(STEPS) * STEP_S
    later = [_later(seconds) for seconds in length_s]
    for k in range(LONGEST - 1, -1, -1):  # answers given so far
        goes_on = chance[k + 1 :].sum() / max(chance[k:].sum(), 1e-12) if chance[k:].sum() > 0 else 0.0
        if goes_on <= 0:
            continue
        given = chance[k + 1 :] / chance[k + 1 :].sum()
        wins = np.zeros(LONGEST + 2)  # probability that so many right answers are this block's target
        for n, p in enumerate(given, k + 1):
            wins[target(n)] += p
        gain = wins[1:, None] * np.arange(1, LONGEST + 2)[:, None] * COEFFICIENT  # at c + 1, for c = 0...
        best = np.zeros((LONGEST + 1, STEPS))
        for p, seconds, shift in zip(accuracy, length_s, later, strict=True):
            right = gain / np.maximum(grid + seconds, STEP_S) + shift(value[k + 1, 1:])
            wrong = shift(value[k + 1, :-1])
            best = np.maximum(best, p * right + (1 - p) * wrong)
        value[k, :-1] = goes_on * best
    return value


def _later(seconds: float) -> Callable[[Floats], Floats]:
    """What a table over seconds says so many seconds later."""
    whole, part = int(seconds / STEP_S), seconds / STEP_S % 1

    def shift(table: Floats) -> Floats:
        at = np.minimum(np.arange(STEPS) + whole, STEPS - 1)
        return np.asarray((1 - part) * table[..., at] + part * table[..., np.minimum(at + 1, STEPS - 1)])

    return shift


class BlockBook:
    """Keeps account of a block: answers given, seconds used, how many are right as far as one can tell.

    Parameters
    ----------
    value : array
        See :func:`worth`.
    """

    def __init__(self, value: Floats) -> None:
        self._value = value
        self.restart()

    def restart(self) -> None:
        """A new block."""
        self.answers, self.used_s = 0, 0.0
        self.right = np.zeros(LONGEST + 2)
        self.right[0] = 1.0

    def enter(self, right: float, used_s: float) -> None:
        """An answer that is right with this probability, by all that is known of the trial in the end."""
        self.right[1:] = right * self.right[:-1] + (1 - right) * self.right[1:]
        self.right[0] *= 1 - right
        self.right /= self.right.sum()
        self.answers += 1
        self.used_s += used_s

    def price_s(self) -> float:
        """Seconds that a right answer in the coming trial is worth."""
        k = min(self.answers + 1, LONGEST)
        at = min(int(self.used_s / STEP_S) + 2, STEPS - 3)
        given = lengths()[k:]
        wins = np.zeros(LONGEST + 3)
        for n, p in enumerate(given / max(given.sum(), 1e-12), k):
            wins[target(n)] += p
        counts = np.arange(LONGEST + 1)
        now_s = max(at * STEP_S, STEP_S)
        hit = wins[counts + 1] * (counts + 1) * COEFFICIENT / now_s
        table, belief = self._value[k], self.right[: LONGEST + 1]
        gain = belief @ (hit + table[counts + 1, at] - table[counts, at])
        # What a second costs: everything still to come, or won with this very answer, shrinks.
        still = belief @ (0.5 * (table[counts, at] + table[counts + 1, at]))
        less = belief @ (0.5 * (table[counts, at + 2] + table[counts + 1, at + 2]))
        cost = (still - less) / (2 * STEP_S) + 0.5 * float(belief @ hit) / now_s
        if gain <= 1e-9:
            return 0.0
        return float(gain / max(cost, 1e-9))


@dataclass(frozen=True)
class Patience:
    """When to answer a trial, for each price of a right answer.

    Attributes
    ----------
    times_s : tuple of float
        The moments at which an answer may be given.
    prices_s : tuple of float
    value : array, shape (prices, times, features)
        Coefficients of the value of looking on, in seconds.
    """

    times_s: tuple[float, ...]
    prices_s: tuple[float, ...]
    value: Floats

    def decide(self, posterior: ArrayLike, moment: int, price_s: float) -> int | None:
        """Index of the answer to give at that moment, or None to look on."""
        told = np.asarray(posterior, dtype=float)
        price_s = min(max(price_s, self.prices_s[0]), self.prices_s[-1])
        wait = features(told) @ self._value(price_s)[moment]
        last = moment == len(self.times_s) - 1
        return int(told.argmax()) if last or price_s * told.max() >= wait else None

    def play(self, posteriors: Floats, price_s: float) -> tuple[NDArray[np.int64], Floats]:
        """Answers and seconds of trials (trials, times, tasks) at one price."""
        wait = np.einsum("itf,tf->it", features(posteriors), self._value(price_s))
        stop = price_s * posteriors.max(axis=-1) >= wait
        stop[:, -1] = True
        at = stop.argmax(axis=1)
        rows = np.arange(len(posteriors))
        return posteriors[rows, at].argmax(axis=-1), np.array(self.times_s)[at]

    def _value(self, price_s: float) -> Floats:
        """Coefficients (times, features) at a price within the range, linear between the rows."""
        above = min(max(int(np.searchsorted(self.prices_s, price_s)), 1), len(self.prices_s) - 1)
        low, high = self.prices_s[above - 1], self.prices_s[above]
        share = (price_s - low) / (high - low)
        return np.asarray((1 - share) * self.value[above - 1] + share * self.value[above])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {"times_s": self.times_s, "prices_s": self.prices_s, "value": self.value.tolist()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Patience:
        """What ``to_dict`` described."""
        return cls(tuple(values["times_s"]), tuple(values["prices_s"]), np.array(values["value"]))


def features(posteriors: Floats) -> Floats:
    """What the value of looking on is regressed on: how sure, and what the doubt is about (..., 8)."""
    best = posteriors.max(axis=-1)
    seen = posteriors[..., FLICKER].sum(axis=-1)
    doubt = seen * (1 - seen)  # is there a flicker at all
    which = seen - posteriors[..., FLICKER].max(axis=-1)
    hands = 1 - seen - posteriors[..., (0, 1, 6)].max(axis=-1)  # which hand, or none
    return np.stack([np.ones_like(best), best, best**2, doubt, doubt**2, which, hands, hands**2], axis=-1)


def learn_patience(posteriors: Floats, truth: NDArray[np.int64], times_s: Sequence[float]) -> Patience:
    """Fit on rehearsed trials: posteriors (trials, times, tasks) and places of the truth (trials,)."""
    known = features(posteriors)
    best = posteriors.argmax(axis=-1)
    right = (best == truth[:, None]).astype(float)
    sure = posteriors.max(axis=-1)
    size = known.shape[-1]
    value = np.zeros((len(PRICES_S), len(times_s), size))
    for row, price in enumerate(PRICES_S):
        ahead = price * right[:, -1] - times_s[-1]
        for t in range(len(times_s) - 2, -1, -1):
            x = known[:, t]
            square = x.T @ x + RIDGE * len(x) * np.eye(size)
            # The value of looking on, with the time used so far added back: compared with price * sure.
            value[row, t] = np.linalg.solve(square, x.T @ (ahead + times_s[t]))
            stop = price * sure[:, t] >= x @ value[row, t]
            ahead = np.where(stop, price * right[:, t] - times_s[t], ahead)
    return Patience(tuple(map(float, times_s)), PRICES_S, value)
