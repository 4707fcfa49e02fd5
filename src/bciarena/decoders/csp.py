"""Common spatial patterns: projections whose power differs most between kinds of imagery."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import mutual_info_classif

from bciarena.decoders.checks import check_epochs, check_labels
from bciarena.decoders.riemann import shrunk
from bciarena.errors import BadInput

Floats = NDArray[np.float64]


class CSP(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Common spatial patterns, each class against the rest [1]_.

    Directions without power (average reference, interpolated or flat channels) are found and left out, so that
    data of any rank can be given.

    Parameters
    ----------
    pairs : int
        Filters taken from each end of the spectrum, per class (for two classes: in all).
    shrink : float
        Shrinkage of the class covariances. Without any, many channels and few trials give directions of hardly any
        power, which look informative in training and change from one day to the next.

    Attributes
    ----------
    filters_ : array, shape (features, channels)
    patterns_ : array, shape (features, channels)

    References
    ----------
    .. [1] Blankertz et al., "Optimizing spatial filters for robust EEG single-trial analysis", IEEE SPM 2008.
    """

    def __init__(self, pairs: int = 2, shrink: float = 0.05) -> None:
        self.pairs = pairs
        self.shrink = shrink

    def fit(self, X: ArrayLike, y: ArrayLike) -> CSP:
        """Fit on epochs (trials, channels, samples), band-passed, and labels (trials,)."""
        epochs = check_epochs(X)
        labels = check_labels(y, len(epochs), each=2)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise BadInput(f"CSP needs two classes, got only {self.classes_.tolist()}")
        # Each trial counts equally, however strong its signal.
        covs = epochs @ epochs.transpose(0, 2, 1)
        power = np.trace(covs, axis1=1, axis2=2)
        if np.any(power <= 0):
            raise BadInput(f"trial {int(np.argmin(power))} is flat in every channel: leave it out")
        covs = covs / power[:, None, None]
        total = covs.mean(axis=0)
        values, vectors = np.linalg.eigh(total)
        basis = vectors[:, values > 1e-6 * values[-1]]
        if basis.shape[1] < 2:
            raise BadInput("fewer than two channels carry a signal")
        whole = basis.T @ shrunk(total, self.shrink) @ basis
        filters = []
        for k in self.classes_[:1] if len(self.classes_) == 2 else self.classes_:
            own = basis.T @ shrunk(covs[labels == k].mean(axis=0), self.shrink) @ basis
            _, w = eigh(own, whole)
            take = min(self.pairs, w.shape[1] // 2)
            filters += [w[:, i] for i in (*range(take), *range(-take, 0))]
        self.filters_: Floats = np.array(filters) @ basis.T
        self.patterns_: Floats = self.filters_ @ total
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Log power of each projection, shape (trials, features)."""
        power = np.mean((self.filters_ @ check_epochs(X)) ** 2, axis=2)
        return np.asarray(np.log(np.maximum(power, 1e-20)))


class FBCSP(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Filter-bank CSP: CSP in several bands, then the features that are most informative about the class [1]_.

    Parameters
    ----------
    pairs, shrink
        See :class:`CSP`.
    keep : int
        Features kept, by mutual information with the label.

    References
    ----------
    .. [1] Ang et al., "Filter bank common spatial pattern algorithm on BCI competition IV datasets 2a and 2b",
       Frontiers in Neuroscience 2012.
    """

    def __init__(self, pairs: int = 2, shrink: float = 0.05, keep: int = 12) -> None:
        self.pairs = pairs
        self.shrink = shrink
        self.keep = keep

    def fit(self, X: ArrayLike, y: ArrayLike) -> FBCSP:
        """Fit on epochs (trials, bands, channels, samples) and labels (trials,)."""
        epochs = check_epochs(X, ndim=4)
        labels = check_labels(y, len(epochs), each=2)
        self.banks_: Sequence[CSP] = [
            CSP(self.pairs, self.shrink).fit(epochs[:, band], labels) for band in range(epochs.shape[1])
        ]
        told = mutual_info_classif(self._all(epochs), labels, random_state=0)
        self.kept_ = np.sort(np.argsort(told)[::-1][: self.keep])
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """The kept log powers, shape (trials, keep)."""
        return self._all(check_epochs(X, ndim=4))[:, self.kept_]

    def _all(self, epochs: Floats) -> Floats:
        return np.concatenate([csp.transform(epochs[:, band]) for band, csp in enumerate(self.banks_)], axis=1)
