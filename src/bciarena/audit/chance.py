"""Is a probe better than chance? A small learner, cross-validated, against the same with its labels shuffled.

The learner is a kernel ridge regression, which is linear in the labels: what it predicts is one matrix times the
labels, so shuffling them thousands of times costs thousands of small products. Labels are shuffled among trials that
look the same to an entry by the rules (the same visible code) and, except for the probe of files, within their block:
whatever the rules themselves give away, and however a block is balanced, is in both.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLDS = 10
RIDGE = 0.3
SHUFFLES = 5000
ENOUGH = 25
"""Shuffles that did as well as the probe after which it is clear that it is no better."""
BATCH = 100


class Outcome(NamedTuple):
    """Balanced accuracy of a probe, its interval, what chance gives, and how rarely chance does as well."""

    accuracy: float
    low: float
    high: float
    chance: float
    limit: float
    p: float


def kernel(features: Array) -> Array:
    """How alike trials are, shape (trials, trials): linear plus Gaussian, with a mean diagonal of 1."""
    spread = features.std(axis=0)
    kept = features[:, spread > 1e-12]
    if not kept.shape[1]:
        return np.zeros((len(features), len(features)))
    unit = (kept - kept.mean(axis=0)) / kept.std(axis=0)
    linear = unit @ unit.T / unit.shape[1]
    apart = np.maximum(np.diag(linear)[:, None] + np.diag(linear)[None] - 2 * linear, 0)
    middle = np.median(apart[apart > 0]) if (apart > 0).any() else 1.0
    both: Array = (linear + np.exp(-apart / middle)) / 2
    return both


def smoother(alike: Array, folds: Ints) -> Array:
    """The matrix that turns labels into predictions, each trial's from trials of other folds alone."""
    made = np.zeros_like(alike)
    for fold in np.unique(folds):
        test, train = folds == fold, folds != fold
        if not train.any():
            continue
        inner = alike[np.ix_(train, train)]
        ridge = RIDGE * max(float(np.trace(inner)) / len(inner), 1e-12) * np.eye(len(inner))
        made[np.ix_(test, train)] = np.linalg.solve(inner + ridge, alike[np.ix_(train, test)]).T
    return made


def examine(
    predict: Array, labels: Ints, strata: Ints, within: Ints, rng: np.random.Generator, alpha: float, tests: int
) -> Outcome:
    """Compare a probe with chance.

    Parameters
    ----------
    predict : ndarray, shape (trials, trials)
        A `smoother`.
    labels, strata, within : ndarray, shape (trials,)
        What is asked; what an entry sees of the trial by the rules; labels are shuffled within equal values of the last
        two.
    alpha, tests : float, int
        The error of the whole audit, and how many tests share it.
    """
    classes = int(labels.max()) + 1
    share = np.zeros((len(labels), classes))
    weight = np.zeros(len(labels))
    for stratum in np.unique(strata):
        here = strata == stratum
        counts = np.bincount(labels[here], minlength=classes)
        share[here] = counts / counts.sum()
        weight[here] = here.mean() / (np.count_nonzero(counts) * counts[labels[here]])
    pairs = set(zip(strata.tolist(), within.tolist(), strict=True))
    groups = [np.flatnonzero((strata == s) & (within == w)) for s, w in pairs]

    quick, rest = predict.astype(np.float32), share[:, None].astype(np.float32)
    bound = np.where(share > 0, share, np.nan)[:, None].astype(np.float32)  # a class that cannot be there wins nothing

    def accuracy(given: Ints) -> Array:
        """Of many labellings at once, shape (labellings, trials)."""
        told = np.eye(classes, dtype=np.float32)[given.T] - rest  # (trials, labellings, classes)
        score = (quick @ told.reshape(len(labels), -1)).reshape(told.shape) / bound
        return np.asarray(((np.nan_to_num(score, nan=-np.inf).argmax(axis=2) == given.T) * weight[:, None]).sum(axis=0))

    observed = float(accuracy(labels[None])[0])
    null: list[float] = []
    beaten = 0
    while len(null) < SHUFFLES and beaten < ENOUGH:
        shuffled = np.repeat(labels[None], BATCH, axis=0)
        for group in groups:
            if len(group) > 1:
                order = rng.random((BATCH, len(group))).argsort(axis=1)
                shuffled[:, group] = labels[group][order]
        values = accuracy(shuffled)
        beaten += int((values >= observed - 1e-12).sum())
        null += values.tolist()
    half = float(NormalDist().inv_cdf(1 - alpha / (2 * tests)) * np.sqrt(np.maximum((weight**2).sum(), 1e-12) / 4))
    return Outcome(
        observed,
        max(observed - half, 0.0),
        min(observed + half, 1.0),
        float(np.mean(null)),
        float(np.quantile(null, 1 - min(alpha, 0.5))),
        (beaten + 1) / (len(null) + 1),
    )


def as_told(right: NDArray[np.bool_], people: Ints, rng: np.random.Generator) -> Outcome:
    """Compare what a text says of blocks with their truth, against texts that are as often right as wrong of a person.

    Nothing is learnt here, so its accuracy is a fact of the set, without an interval.
    """
    by_person = np.array([right[people == one].mean() for one in np.unique(people)]) - 0.5
    signs = rng.choice((-1.0, 1.0), (SHUFFLES, len(by_person)))
    null = np.abs((signs * by_person).mean(axis=1))
    beaten = int((null >= abs(by_person.mean()) - 1e-12).sum())
    accuracy = float(right.mean())
    return Outcome(
        accuracy, accuracy, accuracy, 0.5, 0.5 + float(np.quantile(null, 0.99)), (beaten + 1) / (SHUFFLES + 1)
    )
