"""Log band power at every electrode and a linear rule: an estimator with fit and predict plays as it is."""

import numpy as np


class Entry:
    window_s = (0.5, 2.5)

    def _features(self, X):
        power = np.abs(np.fft.rfft(X * np.hanning(X.shape[-1]), axis=-1)) ** 2
        hz = np.fft.rfftfreq(X.shape[-1], 1 / 250)
        bands = [power[..., (hz >= low) & (hz < high)].mean(axis=-1) for low, high in ((8, 13), (13, 30))]
        return np.log(np.concatenate(bands, axis=1))

    def fit(self, X, y):
        features = self._features(X)
        self.classes_ = np.unique(y)
        means = [features[y == label].mean(axis=0) for label in self.classes_]
        spread = np.cov(features.T) + 0.1 * np.eye(features.shape[1])
        self.weights_ = np.linalg.solve(spread, means[1] - means[0])
        self.middle_ = self.weights_ @ (means[0] + means[1]) / 2
        return self

    def predict(self, X):
        return self.classes_[(self._features(X) @ self.weights_ > self.middle_).astype(int)]
