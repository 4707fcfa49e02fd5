"""Task-discriminant component analysis: one set of spatio-temporal filters that separates all targets (TDCA)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin

from bciarena.decoders.cca import band_weights, reference_bases, references
from bciarena.decoders.checks import check_epochs, check_labels
from bciarena.decoders.trca import _unit
from bciarena.errors import BadInput

Array = NDArray[np.float64]


class TDCA(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """TDCA [1]_ over a filter bank. Epochs are (trials, bands, channels, n).

    Every trial is stacked with delayed copies of itself and with the projection of all that on its target's
    references; a multi-class linear discriminant then gives filters common to all targets.

    Parameters
    ----------
    freqs_hz, phases : array (targets,)
        Stimulus frequencies (Hz) and phases (rad) in the order of the sorted labels.
    rate : float
        Sampling rate, Hz.
    harmonics, delays_n, components : int
        References per target, delayed copies (samples 1..delays_n), filters kept.

    References
    ----------
    .. [1] Liu et al., "Improving the performance of individually calibrated SSVEP-BCI by task-discriminant
       component analysis", IEEE Trans. Neural Syst. Rehabil. Eng. 29, 2021.
    """

    def __init__(
        self,
        freqs_hz: ArrayLike,
        rate: float,
        phases: ArrayLike | None = None,
        harmonics: int = 5,
        delays_n: int = 3,
        components: int = 8,
        skip_hz: Sequence[tuple[float, float]] = (),
    ) -> None:
        self.freqs_hz = freqs_hz
        self.rate = rate
        self.phases = phases
        self.harmonics = harmonics
        self.delays_n = delays_n
        self.components = components
        self.skip_hz = skip_hz

    def fit(self, X: ArrayLike, y: ArrayLike) -> TDCA:
        """Learn from labelled epochs; every target needs one trial, all together more than one each."""
        epochs = check_epochs(X, ndim=4)
        labels = check_labels(y, len(epochs))
        self.classes_ = np.unique(labels)
        if len(self.classes_) != len(np.asarray(self.freqs_hz)):
            raise BadInput(f"{len(np.asarray(self.freqs_hz))} frequencies but trials of {len(self.classes_)} targets")
        if len(self.classes_) < 2:
            raise BadInput("a discriminant needs trials of two targets or more")
        if len(epochs) <= len(self.classes_):
            raise BadInput("one trial per target has no spread within a target: give at least two of some")
        self.n_ = epochs.shape[-1]
        refs = references(self.freqs_hz, self.rate, self.n_, self.harmonics, self.phases, self.skip_hz)
        self.bases_ = reference_bases(refs)
        filters, templates = [], []
        for b in range(epochs.shape[1]):
            stacked = self._stack(epochs[:, b])
            means = np.stack([self._augment(stacked[labels == k].mean(axis=0), i) for i, k in enumerate(self.classes_)])
            within = np.zeros((stacked.shape[1],) * 2)
            for i, k in enumerate(self.classes_):
                for trial in stacked[labels == k]:
                    rest = self._augment(trial, i) - means[i]
                    within += rest @ rest.T
            centre = means - means.mean(axis=0)
            between = np.einsum("kcn,kdn->cd", centre, centre)
            ridge = 1e-6 * max(float(np.trace(within)) / len(within), 1e-30)
            _, vectors = eigh(between / len(means), within / len(epochs) + ridge * np.eye(len(within)))
            w = vectors[:, ::-1][:, : self.components].T
            filters.append(w)
            templates.append((w @ means).reshape(len(means), -1))
        self.filters_ = np.stack(filters)
        self.templates_ = _unit(np.stack(templates))
        # <second half, projected trial> = <projected second half, trial>: both halves become one template.
        halves = self.templates_.reshape(len(filters), len(self.classes_), -1, 2, self.n_)
        projected = (halves[..., 1, :] @ self.bases_) @ self.bases_.transpose(0, 2, 1)
        self._merged = (halves[..., 0, :] + projected).reshape(len(filters), len(self.classes_), -1)
        self._flat_bases = np.ascontiguousarray(self.bases_.transpose(1, 0, 2).reshape(self.n_, -1))
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Signed squared correlations, summed over bands, (trials, targets)."""
        epochs = check_epochs(X, self.n_, ndim=4)
        trials, bands = epochs.shape[:2]
        targets, n, width = self.bases_.shape
        low = self.filters_ @ self._stack(epochs)  # (trials, bands, components, n)
        rows = low.reshape(trials, bands, -1)
        match = (self._merged @ rows[..., None])[..., 0]  # (trials, bands, targets)
        # The augmented trial is never built: its second half has the energy of its coefficients, and no mean.
        coef = low.reshape(-1, n) @ self._flat_bases
        coef *= coef
        projected = coef.reshape(trials, bands, -1, targets, width).sum(axis=(2, 4))
        spread = (rows**2).sum(axis=2) - rows.sum(axis=2) ** 2 / (2 * rows.shape[2])
        r = match / np.sqrt(np.maximum(spread[..., None] + projected, 1e-300))
        return np.asarray(np.einsum("b,tbk->tk", band_weights(bands), np.sign(r) * r**2))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Label of the best target, (trials,)."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])

    def _stack(self, epochs: Array) -> Array:
        """Epochs (..., channels, n) over their copies 1..delays_n samples later, zeros past the end."""
        *outer, channels, n = epochs.shape
        out = np.zeros((*outer, (self.delays_n + 1) * channels, n))
        for d in range(self.delays_n + 1):
            out[..., d * channels : (d + 1) * channels, : n - d] = epochs[..., d:]
        return out

    def _augment(self, stacked: Array, target: int) -> Array:
        basis = self.bases_[target]
        return np.concatenate([stacked, (stacked @ basis) @ basis.T], axis=1)
