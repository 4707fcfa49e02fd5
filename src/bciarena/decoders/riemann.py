"""Covariance matrices as points of a curved space: tangent vectors, alignment, augmented covariances.

pyriemann has means and classical estimators; added here is what a packet-by-packet match needs: covariances of any
rank, tangent vectors fast enough for every packet, and a centre that follows a subject during the run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from bciarena.errors import BadInput

Floats = NDArray[np.float64]


def covariances(epochs: ArrayLike, shrink: float = 0.0) -> Floats:
    """Uncentred covariance of each epoch, shrunk towards a multiple of the identity.

    Parameters
    ----------
    epochs : array, shape (trials, channels, samples)
        Band-passed, microvolts.
    shrink : float
        0: as they are; 1: only the mean power is left.

    Returns
    -------
    array, shape (trials, channels, channels), microvolts squared
    """
    x = np.asarray(epochs, dtype=float)
    if x.ndim != 3 or x.shape[2] < 2:
        raise BadInput(f"epochs have shape {x.shape}; expected (trials, channels, samples)")
    if not np.isfinite(x).all():
        raise BadInput("epochs contain NaN or infinity: leave such trials out before fitting")
    return shrunk(x @ x.transpose(0, 2, 1) / x.shape[2], shrink)


def shrunk(covs: Floats, shrink: float) -> Floats:
    """``(1 - shrink) C + shrink * mean power * I`` for matrices (..., channels, channels)."""
    power = np.trace(covs, axis1=-2, axis2=-1) / covs.shape[-1]
    return np.asarray((1 - shrink) * covs + shrink * power[..., None, None] * np.eye(covs.shape[-1]))


def whitening(cov: Floats, ridge: float = 0.01) -> Floats:
    """Inverse square root of a covariance of any rank, shape (channels, channels).

    ``ridge`` times the mean power is added first: interpolated electrodes, average reference and dead channels
    leave directions without power, and rounding noise in them must not be amplified. A flat channel stays flat.
    """
    power = np.trace(cov) / len(cov)
    if not np.isfinite(power) or power <= 0:
        raise BadInput("all channels are flat (or not finite): there is nothing to whiten")
    values, vectors = np.linalg.eigh(cov + ridge * power * np.eye(len(cov)))
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def log_matrix(covs: Floats, floor: float = 1e-10) -> Floats:
    """Matrix logarithm of symmetric positive matrices (..., channels, channels)."""
    values, vectors = np.linalg.eigh(covs)
    top = np.maximum(values[..., -1:], 1e-300)
    logs = np.log(np.maximum(values, floor * top))
    return np.asarray((vectors * logs[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def half_vector(matrices: Floats) -> Floats:
    """Symmetric matrices (..., channels, channels) as vectors of equal norm (..., channels (channels + 1) / 2)."""
    rows, columns = np.triu_indices(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0)))


class TangentSpace(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Tangent vectors of covariances at a reference point [1]_, which may move.

    ``log(W C W)`` with W the inverse square root of the reference: with the reference at a subject's own mean this
    is Riemannian (or Euclidean) alignment [2]_ [3]_, and vectors of different people may be pooled.

    Parameters
    ----------
    metric : {"riemann", "euclid", "logeuclid"}
        Mean taken as reference: "riemann" as in [2]_, "euclid" as in [3]_.
    shrink : float
        Shrinkage of each covariance before anything else.
    ridge : float
        See :func:`whitening`.
    inertia : float
        Weight of the training reference, in covariances, against those of :meth:`recentre`.

    References
    ----------
    .. [1] Barachant et al., "Multiclass brain-computer interface classification by Riemannian geometry",
       IEEE TBME 2012.
    .. [2] Zanini et al., "Transfer learning: a Riemannian geometry framework", IEEE TBME 2018.
    .. [3] He and Wu, "Transfer learning for brain-computer interfaces: a Euclidean space data alignment approach",
       IEEE TBME 2020.
    """

    def __init__(
        self, metric: str = "riemann", shrink: float = 0.05, ridge: float = 0.0, inertia: float = 20.0
    ) -> None:
        self.metric = metric
        self.shrink = shrink
        self.ridge = ridge
        self.inertia = inertia

    def fit(self, X: ArrayLike, y: object = None) -> TangentSpace:
        """Take the mean of covariances (trials, channels, channels) as reference."""
        covs = np.asarray(X, dtype=float)
        if covs.ndim != 3 or covs.shape[1] != covs.shape[2] or len(covs) == 0:
            raise BadInput(f"covariances have shape {covs.shape}; expected (trials, channels, channels)")
        if not np.isfinite(covs).all():
            raise BadInput("covariances contain NaN or infinity")
        safe = shrunk(covs, self.shrink)
        if np.linalg.eigvalsh(safe).min() <= 0:
            raise BadInput(
                "a covariance has directions without any power (flat or interpolated channels): use shrink > 0"
            )
        self.reference_: Floats = mean_covariance(safe, self.metric)
        self.whitening_: Floats = whitening(self.reference_, self.ridge)
        self.seen_: float = self.inertia
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Tangent vectors (trials, channels (channels + 1) / 2)."""
        covs = shrunk(np.asarray(X, dtype=float), self.shrink)
        return half_vector(log_matrix(self.whitening_ @ covs @ self.whitening_))

    def recentre(self, cov: ArrayLike) -> None:
        """Move the reference a step towards a new covariance, along the geodesic: no label needed."""
        new = shrunk(np.asarray(cov, dtype=float), self.shrink)
        if not np.isfinite(new).all():
            return
        self.seen_ += 1
        self.reference_ = geodesic(self.reference_, new, 1 / self.seen_)
        self.whitening_ = whitening(self.reference_, self.ridge)


def geodesic(one: Floats, other: Floats, share: float) -> Floats:
    """Point ``share`` of the way from one covariance to another on the affine-invariant geodesic."""
    values, vectors = np.linalg.eigh(one)
    root = (vectors * np.sqrt(values)) @ vectors.T
    inverse = (vectors / np.sqrt(values)) @ vectors.T
    middle, turn = np.linalg.eigh(inverse @ other @ inverse)
    return np.asarray(root @ (turn * np.maximum(middle, 1e-300) ** share) @ turn.T @ root)


def mean_covariance(covs: Floats, metric: str = "riemann") -> Floats:
    """Mean of covariances (trials, channels, channels) in one of pyriemann's metrics."""
    try:
        from pyriemann.geometry.mean import gmean
    except ImportError:  # its name before pyriemann 0.12
        from pyriemann.utils.mean import mean_covariance as gmean
    return np.asarray(gmean(covs, metric=metric))


def augmented(epochs: ArrayLike, order: int = 3, lag_n: int = 2) -> Floats:
    """Epochs with delayed copies of themselves: their covariance is the augmented covariance [1]_.

    Parameters
    ----------
    epochs : array, shape (trials, channels, samples)
    order : int
        Number of copies, the first being the epoch itself.
    lag_n : int
        Samples between copies.

    Returns
    -------
    array, shape (trials, order * channels, samples - (order - 1) * lag_n)

    References
    ----------
    .. [1] Carrara and Papadopoulo, "Classification of BCI-EEG based on augmented covariance matrix", IEEE TBME 2024.
    """
    x = np.asarray(epochs, dtype=float)
    if order < 1 or lag_n < 1 or x.ndim != 3 or x.shape[2] <= (order - 1) * lag_n + 1:
        raise BadInput(f"epochs {x.shape} are too short for {order} copies {lag_n} samples apart")
    keep_n = x.shape[2] - (order - 1) * lag_n
    starts = [(order - 1 - k) * lag_n for k in range(order)]
    return np.concatenate([x[:, :, s : s + keep_n] for s in starts], axis=1)


def align(epochs: ArrayLike, metric: str = "euclid", ridge: float = 0.01) -> Floats:
    """One person's epochs (trials, channels, samples) whitened by their mean covariance (He and Wu 2020)."""
    covs = covariances(epochs)
    safe = covs if metric == "euclid" else shrunk(covs, 0.05)
    return np.asarray(whitening(mean_covariance(safe, metric), ridge) @ np.asarray(epochs, dtype=float))
