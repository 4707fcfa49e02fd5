"""Information transfer rate: one definition for numbers and arrays, with bit-identical results."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np


def itr(p: Any, classes: int, mean_s: Any) -> Any:
    """Bits per minute: 60 (log2 M + P log2 P + (1 - P) log2((1 - P)/(M - 1))) / T.

    Zero when P is below chance (R12: strictly below 1/M), never negative; 0 log 0 is 0.

    Parameters
    ----------
    p : float or ndarray
        Accuracy, 0 to 1.
    classes : int
        Number of targets M.
    mean_s : float or ndarray
        Mean time per trial T in seconds; broadcast against ``p``.

    Returns
    -------
    float, or ndarray of float of the shape both broadcast to

    Examples
    --------
    >>> round(itr(0.7, 3, 1.0), 3)
    24.21
    """
    share, seconds = np.broadcast_arrays(np.asarray(p, float), np.asarray(mean_s, float))
    # numpy's log2 differs in the last bit between processors, so Python's is used, once for each distinct value.
    values, where = np.unique(share, return_inverse=True)
    bits = np.array([_bits(float(value), classes) for value in values])[where.reshape(share.shape)]
    rate = np.divide(60 * bits, seconds, out=np.zeros(share.shape), where=seconds > 0)
    return rate if rate.ndim else float(rate)


def _bits(p: float, classes: int) -> float:
    """Bits per answer."""
    if p < 1 / classes:
        return 0.0
    bits = log2(classes)
    if p > 0:
        bits += p * log2(p)
    if p < 1:
        bits += (1 - p) * log2((1 - p) / (classes - 1))
    return max(0.0, bits)
