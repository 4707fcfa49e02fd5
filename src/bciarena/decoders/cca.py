"""Canonical correlation with sine and cosine references: CCA, FBCCA, extended CCA.

All in closed form. The references' orthonormal bases are computed once, in ``fit``; a decision is one QR of
the data per band and one batch of small singular values for all targets at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from bciarena.decoders.checks import check_epochs, check_labels, target_labels
from bciarena.errors import BadInput

Array = NDArray[np.float64]


def references(
    freqs_hz: ArrayLike,
    rate: float,
    n: int,
    harmonics: int,
    phases: ArrayLike | None = None,
    skip_hz: Sequence[tuple[float, float]] = (),
) -> list[Array]:
    """Sine and cosine references of every target.

    Parameters
    ----------
    freqs_hz : array (targets,)
        Stimulus frequencies, Hz.
    rate : float
        Sampling rate, Hz.
    n : int
        Samples.
    harmonics : int
        Number of harmonics, the fundamental included.
    phases : array (targets,), optional
        Stimulus phases at the first sample, rad.
    skip_hz : sequence of (line_hz, distance_hz)
        Harmonics nearer than ``distance_hz`` to a mains line are left out.

    Returns
    -------
    list of ndarray (2 * kept harmonics, n)
        Rows sin, cos, sin, cos, ... per target.
    """
    freqs = np.asarray(freqs_hz, dtype=float)
    start = np.zeros(len(freqs)) if phases is None else np.asarray(phases, dtype=float)
    t = np.arange(n) / rate
    out = []
    for f, phase in zip(freqs, start, strict=True):
        rows = []
        for h in range(1, harmonics + 1):
            if h * f >= rate / 2 or any(abs(h * f - line) < apart for line, apart in skip_hz):
                continue
            angle = h * (2 * np.pi * f * t + phase)
            rows += [np.sin(angle), np.cos(angle)]
        if not rows:
            raise BadInput(f"no harmonic of {f:g} Hz is left below {rate / 2:g} Hz and away from the mains")
        out.append(np.array(rows))
    return out


def reference_bases(refs: Sequence[Array]) -> Array:
    """Orthonormal bases of the references' row spaces, zero-padded to one width: (targets, n, width)."""
    width = max(len(r) for r in refs)
    bases = np.zeros((len(refs), refs[0].shape[1], width))
    for basis, r in zip(bases, refs, strict=True):
        basis[:, : len(r)] = np.linalg.qr((r - r.mean(axis=1, keepdims=True)).T)[0]
    return bases


def row_basis(X: Array) -> Array:
    """Orthonormal basis of the row space of each (channels, n) in a stack: (..., n, channels).

    Rows that add nothing (flat or doubled channels, an average reference) become zero columns instead of noise.
    """
    centred = X - X.mean(axis=-1, keepdims=True)
    scale = np.linalg.norm(centred, axis=-1, keepdims=True)
    centred = centred / np.where(scale > 0, scale, 1.0)
    # The eigenbasis of the channels' correlation is exact for full rank and safe for less.
    values, vectors = np.linalg.eigh(centred @ np.swapaxes(centred, -1, -2))
    gain = np.where(values > 1e-9, 1 / np.sqrt(np.maximum(values, 1e-300)), 0.0)
    return np.asarray(np.swapaxes(centred, -1, -2) @ (vectors * gain[..., None, :]))


def canonical_correlations(X: ArrayLike, bases: Array) -> Array:
    """Canonical correlations of data with every target's references.

    Parameters
    ----------
    X : array (..., channels, n)
    bases : ndarray (targets, n, width)
        From :func:`reference_bases`.

    Returns
    -------
    ndarray (..., targets, min(channels, width))
        In falling order.
    """
    q = row_basis(np.asarray(X, dtype=float))
    targets, n, width = bases.shape
    cross = np.swapaxes(q, -1, -2) @ bases.transpose(1, 0, 2).reshape(n, targets * width)
    cross = np.swapaxes(cross.reshape(*cross.shape[:-1], targets, width), -3, -2)
    return np.clip(np.linalg.svd(cross, compute_uv=False), 0.0, 1.0)


def largest_correlation(X: Array, bases: Array) -> Array:
    """Square of the largest canonical correlation, (..., targets): as above, but faster.

    The largest eigenvalue of the smaller Gram matrix by repeated squaring: 2^5 power steps leave an error orders of
    magnitude below the sampling error of any correlation, at a third of the cost of singular values.
    """
    q = row_basis(X)
    targets, n, width = bases.shape
    cross = np.swapaxes(q, -1, -2) @ bases.transpose(1, 0, 2).reshape(n, targets * width)
    cross = np.swapaxes(cross.reshape(*cross.shape[:-1], targets, width), -3, -2)
    gram = cross @ np.swapaxes(cross, -1, -2)
    power = gram
    for _ in range(5):
        power = power @ power
        power = power / np.maximum(np.trace(power, axis1=-2, axis2=-1), 1e-300)[..., None, None]
    return np.asarray((power * gram).sum(axis=(-2, -1)))


class CCA(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Standard CCA [1]_; needs no training data.

    Parameters
    ----------
    freqs_hz : array (targets,)
        Stimulus frequencies.
    rate : float
        Sampling rate, Hz.
    harmonics : int
        References per target.
    skip_hz : sequence of (line_hz, distance_hz)
        See :func:`references`.

    References
    ----------
    .. [1] Lin et al., "Frequency recognition based on canonical correlation analysis for SSVEP-based BCIs",
       IEEE Trans. Biomed. Eng. 53, 2006.
    """

    def __init__(
        self,
        freqs_hz: ArrayLike,
        rate: float,
        harmonics: int = 5,
        skip_hz: Sequence[tuple[float, float]] = (),
    ) -> None:
        self.freqs_hz = freqs_hz
        self.rate = rate
        self.harmonics = harmonics
        self.skip_hz = skip_hz

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> CCA:
        """Precompute the references for epochs of the length of `X` (trials, channels, n).

        `y` (trials,) only says what the targets are called: its labels in sorted order, one for each frequency.
        """
        n = np.shape(X)[-1]
        refs = references(self.freqs_hz, self.rate, n, self.harmonics, skip_hz=self.skip_hz)
        if n <= max(len(r) for r in refs):
            raise BadInput(f"{n} samples are too few for {self.harmonics} harmonics")
        self.bases_ = reference_bases(refs)
        self.classes_ = target_labels(y, len(refs))
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Largest canonical correlation, (trials, targets), of epochs (trials, channels, n)."""
        return np.sqrt(largest_correlation(check_epochs(X, self.bases_.shape[1]), self.bases_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Label of the best target, (trials,)."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])


class FBCCA(CCA):
    """Filter-bank CCA [1]_: the squared correlations of several bands, weighted by ``m**-a + b``.

    Epochs are (trials, bands, channels, n), filtered by the caller
    (:class:`~bciarena.decoders.filters.FilterBank`), so that the same filters serve a stream and a set of epochs.

    References
    ----------
    .. [1] Chen et al., "Filter bank canonical correlation analysis for implementing a high-speed SSVEP-based
       brain-computer interface", J. Neural Eng. 12, 2015.
    """

    def __init__(
        self,
        freqs_hz: ArrayLike,
        rate: float,
        harmonics: int = 5,
        skip_hz: Sequence[tuple[float, float]] = (),
        a: float = 1.25,
        b: float = 0.25,
    ) -> None:
        super().__init__(freqs_hz, rate, harmonics, skip_hz)
        self.a = a
        self.b = b

    def decision_function(self, X: ArrayLike) -> Array:
        """Weighted sum of squared correlations, (trials, targets)."""
        epochs = check_epochs(X, self.bases_.shape[1], ndim=4)
        weights = band_weights(epochs.shape[1], self.a, self.b)
        return np.asarray(np.einsum("b,nbk->nk", weights, largest_correlation(epochs, self.bases_)))


def band_weights(bands: int, a: float = 1.25, b: float = 0.25) -> Array:
    """FBCCA's weights ``m**-a + b`` for bands 1..m, shape (bands,)."""
    return np.arange(1, bands + 1.0) ** -a + b


class ExtendedCCA(CCA):
    """CCA with individual templates [1]_: four correlations, combined as the signed sum of squares.

    ``fit`` takes labelled epochs. Per target they are the largest canonical correlation of data and references,
    and the correlations of data and template after projection with the spatial filters of (data, template),
    (data, references) and (template, references).

    References
    ----------
    .. [1] Nakanishi et al., "A high-speed brain speller using steady-state visual evoked potentials",
       Int. J. Neural Syst. 24, 2014.
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> ExtendedCCA:
        """Learn templates from epochs (trials, channels, n) with labels `y` (trials,), in the order of frequencies."""
        super().fit(X, y)
        epochs = check_epochs(X, np.shape(X)[-1])
        labels = check_labels(y, len(epochs), expected=self.classes_)
        self.templates_ = np.stack([epochs[labels == k].mean(axis=0) for k in self.classes_])
        self._centred = self.templates_ - self.templates_.mean(axis=-1, keepdims=True)
        self._powers = self._centred @ np.swapaxes(self._centred, -1, -2)
        # Targets side by side, so that a product with all of them is one product: (n, targets, width).
        self._side_by_side = [
            np.ascontiguousarray(b.transpose(1, 0, 2))
            for b in (self.bases_, row_basis(self.templates_), np.swapaxes(self._centred, -1, -2))
        ]
        self.reference_filters_ = np.concatenate(
            [_first_filters(t, b[:, None])[0] for t, b in zip(self._centred, self.bases_, strict=True)]
        )
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Combined score, (trials, targets)."""
        epochs = check_epochs(X, self.bases_.shape[1])
        out = np.empty((len(epochs), len(self.classes_)))
        for i, x in enumerate(epochs - epochs.mean(axis=-1, keepdims=True)):
            refs, template_bases, templates = self._side_by_side
            w_ref, r_ref = _first_filters(x, refs)
            w_tpl, _ = _first_filters(x, template_bases)
            cross = _all_at_once(x, templates)
            out[i] = r_ref**2
            for w in (w_tpl, w_ref, self.reference_filters_):
                r = _form(w, cross) / np.sqrt(np.maximum(_form(w, x @ x.T) * _form(w, self._powers), 1e-300))
                out[i] += np.sign(r) * r**2
        return out


def _first_filters(x: Array, bases: Array) -> tuple[Array, Array]:
    """First canonical spatial filters of centred x (channels, n) against every orthonormal basis (n, targets, width).

    Returns the filters, (targets, channels), and their correlations, (targets,).
    """
    values, vectors = np.linalg.eigh(x @ x.T)
    gain = np.where(values > 1e-10 * values.max(), 1 / np.sqrt(np.maximum(values, 1e-300)), 0.0)
    white = vectors * gain
    cross = _all_at_once(white.T @ x, bases)
    squares, directions = np.linalg.eigh(cross @ np.swapaxes(cross, -1, -2))
    return directions[..., -1] @ white.T, np.sqrt(np.clip(squares[..., -1], 0.0, 1.0))


def _all_at_once(x: Array, bases: Array) -> Array:
    """x @ basis for every basis (n, targets, width): (targets, channels, width)."""
    n, targets, width = bases.shape
    return (x @ bases.reshape(n, -1)).reshape(len(x), targets, width).transpose(1, 0, 2)


def _form(w: Array, matrix: Array) -> Array:
    """w @ matrix @ w of every target: w (targets, channels), matrix (channels, channels) or one per target."""
    return np.asarray(((w[:, None, :] @ matrix)[:, 0] * w).sum(axis=1))
