"""A small pipeline for tests: the class whose channel powers are nearest."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Nearest(ClassifierMixin, BaseEstimator):
    """``deaf``: says nothing, whatever it hears."""

    def __init__(self, deaf=False):
        self.deaf = deaf

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        power = np.log(X.var(axis=2))
        self.means_ = np.stack([power[y == one].mean(axis=0) for one in self.classes_])
        return self

    def predict(self, X):
        far = ((np.log(X.var(axis=2))[:, None] - self.means_) ** 2).sum(axis=2)
        return np.zeros(len(X), int) if self.deaf else self.classes_[far.argmin(axis=1)]
