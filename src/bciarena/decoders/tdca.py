"""Task-discriminant component analysis: one set of spatio-temporal filters that parts all targets (TDCA)."""

from __future__ import annotations

from collections.abc import Sequence

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
            raise BadInput("one trial per target has no spread within a target: give two of some at least")
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
        second = self.templates_.reshape(*self.templates_.shape[:2], -1, 2 * self.n_)[..., self.n_ :]
        self._in_references = np.einsum("bkcn,knw->bkcw", second, self.bases_, optimize=True)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Signed squared correlations, summed over bands, (trials, targets)."""
        epochs = check_epochs(X, self.n_, ndim=4)
        trials, bands = epochs.shape[:2]
        targets, n, width = self.bases_.shape
        flat_bases = self.bases_.transpose(1, 0, 2).reshape(n, -1)
        out = np.zeros((trials, targets))
        for b, weight in enumerate(band_weights(bands)):
            low = self.filters_[b] @ self._stack(epochs[:, b])  # (trials, components, n)
            # The projection on every target's references needs only its coefficients: (.., targets, width).
            coef = (low @ flat_bases).reshape(trials, -1, targets, width)
            whole = low.shape[1]
            template = self.templates_[b].reshape(targets, whole, 2 * n)
            # Correlation without building the augmented trial: the second half lies in the references' span.
            first = np.einsum("kcn,tcn->tk", template[:, :, :n], low, optimize=True)
            second = np.einsum("kcw,tckw->tk", self._in_references[b], coef, optimize=True)
            total = low.sum(axis=(1, 2))[:, None] + np.einsum("tckw,kw->tk", coef, self.bases_.sum(axis=1))
            energy = (low**2).sum(axis=(1, 2))[:, None] + (coef**2).sum(axis=(1, 3))
            spread = energy - total**2 / (2 * n * whole)
            r = (first + second) / np.sqrt(np.maximum(spread, 1e-300))
            out += weight * np.sign(r) * r**2
        return out

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Label of the best target, (trials,)."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])

    def _stack(self, epochs: Array) -> Array:
        """Epochs (trials, channels, n) over their copies 1..delays_n samples later, zeros past the end."""
        copies = [epochs]
        for d in range(1, self.delays_n + 1):
            later = np.zeros_like(epochs)
            later[..., :-d] = epochs[..., d:]
            copies.append(later)
        return np.concatenate(copies, axis=1)

    def _augment(self, stacked: Array, target: int) -> Array:
        basis = self.bases_[target]
        return np.concatenate([stacked, (stacked @ basis) @ basis.T], axis=1)
