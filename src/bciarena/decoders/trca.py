"""Task-related component analysis: spatial filters that make a target's trials alike (TRCA, eTRCA)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin

from bciarena.decoders.cca import band_weights
from bciarena.decoders.checks import check_epochs, check_labels

Array = NDArray[np.float64]


def trca_filter(trials: Array) -> Array:
    """Spatial filter (channels,) with the largest inter-trial covariance, from trials (trials, channels, n).

    A flat or doubled channel makes the covariance singular: a ridge of 1e-9 of its mean variance keeps the
    eigenproblem defined and leaves full-rank data as they are.
    """
    centred = trials - trials.mean(axis=2, keepdims=True)
    total = np.einsum("icn,idn->cd", centred, centred)
    summed = centred.sum(axis=0)
    between = summed @ summed.T - total
    ridge = 1e-9 * max(float(np.trace(total)) / len(total), 1e-30)
    _, vectors = eigh(between, total + ridge * np.eye(len(total)))
    return np.asarray(vectors[:, -1])


class TRCA(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """TRCA and its ensemble [1]_ over a filter bank.

    Epochs are (trials, bands, channels, n).

    Parameters
    ----------
    ensemble : bool
        Use the filters of all targets together (eTRCA), else each target's own.

    References
    ----------
    .. [1] Nakanishi et al., "Enhancing detection of SSVEPs for a high-speed brain speller using task-related
       component analysis", IEEE Trans. Biomed. Eng. 65, 2018.
    """

    def __init__(self, ensemble: bool = True) -> None:
        self.ensemble = ensemble

    def fit(self, X: ArrayLike, y: ArrayLike) -> TRCA:
        """Learn filters and templates; every target needs two trials."""
        epochs = check_epochs(X, ndim=4)
        labels = check_labels(y, len(epochs), each=2)
        self.classes_ = np.unique(labels)
        bands, n = epochs.shape[1], epochs.shape[3]
        self.filters_ = np.stack([[trca_filter(epochs[labels == k, b]) for k in self.classes_] for b in range(bands)])
        mean = np.stack([epochs[labels == k].mean(axis=0) for k in self.classes_], axis=1)
        # (bands, targets, filters, n): every target's template through every filter, or through its own.
        through = np.einsum("bfc,bkcn->bkfn", self.filters_, mean)
        if not self.ensemble:
            through = np.einsum("bkkn->bkn", through)[:, :, None]
        self.templates_ = _unit(through.reshape(bands, len(self.classes_), -1))
        self.n_ = n
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Signed squared correlations, summed over bands, (trials, targets)."""
        epochs = check_epochs(X, self.n_, ndim=4)
        through = self.filters_ @ epochs  # (trials, bands, filters, n)
        if self.ensemble:
            flat = _unit(through.reshape(*through.shape[:2], -1))
            r = np.einsum("bkm,tbm->tbk", self.templates_, flat, optimize=True)
        else:
            r = np.einsum("bkn,tbkn->tbk", self.templates_, _unit(through), optimize=True)
        return np.asarray(np.einsum("b,tbk->tk", band_weights(r.shape[1]), np.sign(r) * r**2))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Label of the best target, (trials,)."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])


def _unit(x: Array) -> Array:
    """Centred and of unit norm along the last axis; a flat row stays zero."""
    x = x - x.mean(axis=-1, keepdims=True)
    norm = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(x / np.where(norm > 0, norm, 1.0))
