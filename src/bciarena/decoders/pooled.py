"""One linear classifier for many people: a shared part and an individual one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin

from bciarena.errors import BadInput

Floats = NDArray[np.float64]


class PooledRidge(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Ridge classifier whose weights are a shared part plus a person's own part [1]_.

    Person s answers with ``w_shared + w_s``. Both are fitted at once: in the dual this is ridge regression on class
    indicators with the kernel ``(1 + own * [same person]) <x, x'>``, so a few hundred trials of thousands of
    features take milliseconds. An unknown person gets the shared part.

    Parameters
    ----------
    own : float
        How freely a person may differ from the others; 0: one classifier for all.
    ridge : float
        Penalty, relative to the mean squared norm of a trial.

    Attributes
    ----------
    shared_ : array, shape (features, classes)
    own_ : dict, person -> array, shape (features, classes)
    left_out_ : array, shape (trials, classes), or (rehearsals, trials, classes)
        Scores of each trial by weights fitted without its fold; only where folds were given.

    References
    ----------
    .. [1] Evgeniou and Pontil, "Regularized multi-task learning", KDD 2004.
    """

    def __init__(self, own: float = 1.0, ridge: float = 0.3) -> None:
        self.own = own
        self.ridge = ridge

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        person: ArrayLike | None = None,
        fold: ArrayLike | None = None,
        level: ArrayLike | None = None,
    ) -> PooledRidge:
        """Fit on features (trials, features), centred per person, labels (trials,) and persons (trials,).

        With ``fold`` (trials,) every trial is also scored by a fit without its fold, see ``left_out_``; several rows of
        folds (rehearsals, trials) are as many rehearsals. ``level`` (trials,) tells what was centred together: the fit
        then does not know the fold's part in that mean either, as nobody knows a later day's.
        """
        x, labels = np.asarray(X, dtype=float), np.asarray(y)
        who = np.zeros(len(labels), dtype=int) if person is None else np.asarray(person)
        if x.ndim != 2 or len(x) != len(labels) or len(who) != len(labels):
            raise BadInput(f"features {x.shape}, {len(labels)} labels and {len(who)} persons do not fit together")
        if not np.isfinite(x).all():
            raise BadInput("features contain NaN or infinity")
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise BadInput(f"two classes are needed, got only {self.classes_.tolist()}")
        goal = (labels[:, None] == self.classes_[None]).astype(float) - 1 / len(self.classes_)
        products = x @ x.T
        bond = 1 + self.own * (who[:, None] == who[None])
        kernel = products * bond
        if np.trace(kernel) <= 0:
            raise BadInput("all features are zero")
        dual = self._dual(kernel, goal)
        if fold is not None:
            rehearsals = np.atleast_2d(np.asarray(fold))
            left_out = np.zeros((len(rehearsals), *goal.shape))
            for folds, scores in zip(rehearsals, left_out, strict=True):
                for out in (folds == f for f in np.unique(folds)):
                    part = kernel if level is None else _centred(products, np.asarray(level), ~out) * bond
                    scores[out] = part[out][:, ~out] @ self._dual(part[~out][:, ~out], goal[~out])
            self.left_out_: Floats = left_out if np.ndim(fold) == 2 else left_out[0]
        self.shared_: Floats = x.T @ dual
        self.own_: dict[int, Floats] = {int(s): self.own * (x[who == s].T @ dual[who == s]) for s in np.unique(who)}
        return self

    def _dual(self, kernel: Floats, goal: Floats) -> Floats:
        scale = np.trace(kernel) / len(kernel)
        return np.asarray(cho_solve(cho_factor(kernel + self.ridge * scale * np.eye(len(kernel))), goal))

    def weights(self, person: int | None = None) -> Floats:
        """Weights (features, classes) for a person, or for an unknown one."""
        own = self.own_.get(person) if person is not None else None
        return self.shared_ if own is None else self.shared_ + own

    def decision_function(self, X: ArrayLike, person: int | None = None) -> Floats:
        """Scores (trials, classes)."""
        return np.asarray(X, dtype=float) @ self.weights(person)

    def predict(self, X: ArrayLike, person: int | None = None) -> NDArray[np.generic]:
        """Classes (trials,)."""
        return np.asarray(self.classes_[self.decision_function(X, person).argmax(axis=1)])


def _centred(products: Floats, level: NDArray[np.generic], known: NDArray[np.bool_]) -> Floats:
    """Inner products (trials, trials) of features less the mean over the known trials of the same level."""
    levels, index = np.unique(level, return_inverse=True)
    mean = (levels[:, None] == level[None]) & known
    weights = mean / np.maximum(mean.sum(axis=1, keepdims=True), 1)
    half = products - (weights @ products)[index]
    return np.asarray(half - (half @ weights.T)[:, index])
