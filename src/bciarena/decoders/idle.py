"""What scores look like when nobody attends anything: the yardstick of an asynchronous decoder.

A correlation of 0.6 with 10 Hz means little for somebody with strong alpha waves and much for somebody without. So a
score counts in standard deviations above what this person's own EEG gives at that key, that window length and that
band. Everybody starts from a population's values and moves to his own within half a minute.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Background:
    """Running mean and variance of scores of any shape, from a prior.

    Parameters
    ----------
    mean, variance : array
        What to expect before anything was seen.
    prior_n, memory_n : float
        Number of updates the prior counts for; most updates the past counts for.
    clip : float
        An update is held within this many standard deviations: a key that flickers now must not become its own
        background.
    """

    def __init__(
        self, mean: ArrayLike, variance: ArrayLike, prior_n: float, memory_n: float, clip: float = 4.0
    ) -> None:
        self.mean = np.array(mean, dtype=float)
        self.variance = np.array(variance, dtype=float)
        self.memory_n = memory_n
        self.clip = clip
        self._n = np.full(len(self.mean), float(prior_n))

    def standardise(self, row: int, scores: Array) -> Array:
        """Scores of one row (first axis) in standard deviations above the background; then learns from them."""
        spread = np.sqrt(self.variance[row])
        away = scores - self.mean[row]
        out = away / spread
        self._n[row] = min(self._n[row] + 1, self.memory_n)
        away = np.clip(away, -self.clip * spread, self.clip * spread)
        self.mean[row] += away / self._n[row]
        self.variance[row] += (away**2 - self.variance[row]) / self._n[row]
        return np.asarray(out)
