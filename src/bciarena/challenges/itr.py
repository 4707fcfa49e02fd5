"""Information transfer rate."""

from math import log2


def itr(p: float, classes: int, mean_s: float) -> float:
    """Bits per minute: 60 (log2 M + P log2 P + (1 - P) log2((1 - P)/(M - 1))) / T.

    Zero when P is below chance (R12: strictly below 1/M), never negative; 0 log 0 is 0.

    Parameters
    ----------
    p : float
        Accuracy, 0 to 1.
    classes : int
        Number of targets M.
    mean_s : float
        Mean time per trial T in seconds.
    """
    if mean_s <= 0 or p < 1 / classes:
        return 0.0
    bits = log2(classes)
    if p > 0:
        bits += p * log2(p)
    if p < 1:
        bits += (1 - p) * log2((1 - p) / (classes - 1))
    return max(0.0, 60 * bits / mean_s)
