"""What scores look like when nothing is attended: the baseline of an asynchronous decoder.

A correlation of 0.6 with 10 Hz means little for somebody with strong alpha waves and much for somebody without. So a
score counts in standard deviations above what this person's own EEG gives at that window length, that band and that
key. Everybody starts from a population's values and moves to their own: the level common to all keys within seconds
(40 keys give it at once), each key's own deviation from it within a minute or two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Background:
    """Running mean and variance of scores (rows, ..., keys), from a prior, in two steps.

    Parameters
    ----------
    mean, variance : array (rows, ...)
        Level of all keys, before anything was seen.
    key_mean, key_variance : array (rows, ..., keys)
        Each key's mean and variance in units of that level: alpha waves lift the keys around 10 Hz.
    prior_n, memory_n : (float, float)
        How many updates the prior counts for, and the past at most: of the level, of the keys.
    clip : float
        An update is held within this many standard deviations: a key that flickers now must not become its own
        background.
    """

    def __init__(
        self,
        mean: ArrayLike,
        variance: ArrayLike,
        key_mean: ArrayLike,
        key_variance: ArrayLike,
        prior_n: tuple[float, float],
        memory_n: tuple[float, float],
        clip: float = 4.0,
    ) -> None:
        self._level = _Moments(
            np.array(mean, float)[..., None], np.array(variance, float)[..., None], prior_n[0], memory_n[0], clip
        )
        self._key = _Moments(np.array(key_mean, float), np.array(key_variance, float), prior_n[1], memory_n[1], clip)

    def standardise(self, scores: Array) -> Array:
        """Scores of the first rows, (rows, ..., keys), in standard deviations above the background; it then moves."""
        return self._key.standardise(self._level.standardise(scores))

    def measure(self, scores: Array, row: int) -> Array:
        """Scores (..., keys) of one row in the same deviations; the background stays where it is."""
        for step in (self._level, self._key):
            scores = (scores - step.mean[row]) / np.sqrt(step.variance[row])
        return scores

    def reopen(self) -> None:
        """A new block: eyes that were open may be closed now. What was learnt is kept with less weight."""
        self._level.reopen()
        self._key.reopen()


class _Moments:
    """One step: `mean` and `variance` have the scores' shape, or 1 for the keys' axis to pool them."""

    def __init__(self, mean: Array, variance: Array, prior_n: float, memory_n: float, clip: float) -> None:
        self.mean, self.variance = mean, variance
        self.memory_n, self.clip = memory_n, clip
        self.n = np.full(len(mean), prior_n, dtype=float)
        self._prior_n, self._prior_variance = prior_n, variance.copy()
        self.pooled = mean.shape[-1] == 1

    def standardise(self, scores: Array) -> Array:
        rows = slice(len(scores))
        spread = np.sqrt(self.variance[rows])
        away = scores - self.mean[rows]
        out = away / spread
        self.n[rows] = np.minimum(self.n[rows] + 1, self.memory_n)
        away = np.clip(away, -self.clip * spread, self.clip * spread)
        square = away**2
        if self.pooled:
            away, square = away.mean(axis=-1, keepdims=True), square.mean(axis=-1, keepdims=True)
        n = self.n[rows].reshape(-1, *(1,) * (scores.ndim - 1))
        self.mean[rows] += away / n
        self.variance[rows] += (square - self.variance[rows]) / n
        return np.asarray(out)

    def reopen(self) -> None:
        self.n = np.minimum(self.n, self._prior_n)
        self.variance = np.maximum(self.variance, self._prior_variance)
