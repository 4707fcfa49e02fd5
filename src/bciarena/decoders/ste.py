"""Spatio-temporal equalisation: first of all the background EEG is whitened in space and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from bciarena.decoders.cca import reference_bases, references
from bciarena.decoders.checks import check_epochs, target_labels
from bciarena.errors import BadInput

Array = NDArray[np.float64]


class Equalizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Multichannel autoregressive whitening filter, causal.

    ``fit`` finds A_1..A_p so that x(t) - sum_i A_i x(t - i) has the least power, by ridge regression on background
    EEG, and a matrix that makes these innovations uncorrelated and of unit variance.

    Parameters
    ----------
    order : int
        Samples of memory p.
    ridge : float
        Share of the mean variance added to the normal equations: flat and doubled channels do no harm.
    """

    def __init__(self, order: int = 4, ridge: float = 1e-6) -> None:
        self.order = order
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: None = None) -> Equalizer:
        """Learn from background EEG: one stretch (channels, n) or several (trials, channels, n)."""
        epochs = np.asarray(X, dtype=float)
        epochs = check_epochs(epochs[None] if epochs.ndim == 2 else epochs)
        trials, channels, n = epochs.shape
        rows = trials * (n - self.order)
        if rows < 2 * channels * self.order:
            raise BadInput(f"{rows} samples are too few to equalise {channels} channels with a memory of {self.order}")
        past = self._past(epochs)
        now = epochs[..., self.order :].transpose(0, 2, 1).reshape(rows, channels)
        gram = past.T @ past
        gram += self.ridge * max(float(np.trace(gram)) / len(gram), 1e-30) * np.eye(len(gram))
        self.coefficients_ = np.linalg.solve(gram, past.T @ now)
        rest = now - past @ self.coefficients_
        cov = rest.T @ rest / rows
        values, vectors = np.linalg.eigh(cov)
        floor = max(1e-9 * float(values.max()), 1e-30)
        self.whitener_ = np.where(values > floor, 1 / np.sqrt(np.maximum(values, floor)), 0.0)[:, None] * vectors.T
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Whitened epochs (trials, channels, n - order)."""
        epochs = check_epochs(X)
        if epochs.shape[1] != len(self.whitener_):
            raise BadInput(f"fitted on {len(self.whitener_)} channels, given {epochs.shape[1]}")
        now = epochs[..., self.order :].transpose(0, 2, 1)
        past = self._past(epochs).reshape(len(epochs), -1, self.coefficients_.shape[0])
        return np.asarray(self.whitener_ @ (now - past @ self.coefficients_).transpose(0, 2, 1))

    def _past(self, epochs: Array) -> Array:
        n = epochs.shape[-1]
        lags = [epochs[..., self.order - i : n - i] for i in range(1, self.order + 1)]
        return np.concatenate(lags, axis=1).transpose(0, 2, 1).reshape(-1, epochs.shape[1] * self.order)


class STE(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Training-free target posterior on equalised EEG [1]_.

    Once the background is white, the log-likelihood of a target is half the energy of its references' share of the
    data; targets with as many references compare directly. Nothing but background EEG is needed.

    Parameters
    ----------
    freqs_hz : array (targets,)
        Stimulus frequencies.
    rate : float
        Sampling rate, Hz.
    harmonics, order : int
        References per target; memory of the equaliser.

    References
    ----------
    .. [1] Yang et al., "A dynamic window recognition algorithm for SSVEP-based brain-computer interfaces using a
       spatio-temporal equalizer", Int. J. Neural Syst. 28, 2018.
    """

    def __init__(
        self,
        freqs_hz: ArrayLike,
        rate: float,
        harmonics: int = 3,
        order: int = 4,
        skip_hz: Sequence[tuple[float, float]] = (),
    ) -> None:
        self.freqs_hz = freqs_hz
        self.rate = rate
        self.harmonics = harmonics
        self.order = order
        self.skip_hz = skip_hz

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> STE:
        """Learn the equaliser from background EEG, (channels, n) or (trials, channels, n).

        `y` only says what the targets are called: its labels in sorted order, one for each frequency.
        """
        self.equalizer_ = Equalizer(self.order).fit(X)
        self.classes_ = target_labels(y, len(np.asarray(self.freqs_hz)))
        self._bases: dict[int, tuple[Array, Array]] = {}
        return self

    def _references(self, n: int) -> tuple[Array, Array]:
        """Bases of all targets side by side, (n, targets * width), and references per target; made once per length."""
        if n not in self._bases:
            refs = references(self.freqs_hz, self.rate, n, self.harmonics, skip_hz=self.skip_hz)
            flat = reference_bases(refs).transpose(1, 0, 2).reshape(n, -1)
            self._bases[n] = (np.ascontiguousarray(flat), np.array([len(r) for r in refs]))
        return self._bases[n]

    def decision_function(self, X: ArrayLike) -> Array:
        """Log-likelihood gain over background, (trials, targets), of epochs (trials, channels, n)."""
        white = self.equalizer_.transform(X)
        flat, counts = self._references(white.shape[-1])
        energy = ((white @ flat) ** 2).reshape(len(white), white.shape[1], len(counts), -1).sum(axis=(1, 3))
        # Each reference gains half a unit per channel from pure noise; subtracted, so that their number has no effect.
        free = counts * white.shape[1]
        return np.asarray((energy - free) / 2)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Posterior of every target under equal priors, (trials, targets)."""
        score = self.decision_function(X)
        odds = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Label of the best target, (trials,)."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])
