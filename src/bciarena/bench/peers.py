"""What others would play: the usual pipelines of the field as plain entries, for comparison on the same footing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SCALP = 59
OCCIPITAL = tuple(range(42, 59))


class _Windowed(ABC):
    """A scikit-learn pipeline per person (``pipeline``) on one band-passed window of 1.48 s after the cue."""

    window_s = (0.0, 1.48)
    classes = (201, 202, 203)
    lead_n = 125  # filtered together with the samples before, so that the window has no edge

    @abstractmethod
    def pipeline(self) -> Any:
        """A new pipeline with fit(X, y) and predict(X)."""

    def fit(self, sets: dict[str, Any]) -> None:
        from scipy.signal import butter

        self.sos = butter(4, (8, 30), "bandpass", fs=250, output="sos")
        self.models: dict[int, Any] = {}
        (recording,) = sets.values()
        grouped: dict[int, list[tuple[Array, int]]] = {}
        for subject, _, block in recording:
            for event in block.events:
                if event.code in self.classes:
                    start = (event.sample // 10 + 1) * 10
                    piece = np.asarray(block.eeg[:SCALP, start - self.lead_n : start + 370], float)
                    if piece.shape[1] == self.lead_n + 370:
                        grouped.setdefault(subject, []).append((self.filtered(piece), event.code))
        for subject, pairs in grouped.items():
            self.live = [row for row in range(SCALP) if np.ptp([p[row] for p, _ in pairs]) > 0]
            x = np.array([p[self.live] for p, _ in pairs])
            self.models[subject] = (self.live, self.pipeline().fit(x, [code for _, code in pairs]))

    def filtered(self, piece: Array) -> Array:
        from scipy.signal import sosfilt

        return np.asarray(sosfilt(self.sos, piece, axis=1)[:, self.lead_n :])

    def start(self, info: dict[str, Any]) -> None:
        self.held = np.zeros((SCALP, 0))
        self.left: int | None = None

    def step(self, packet: Any) -> int | None:
        if packet.start == 0:
            self.held, self.left = self.held[:, :0], None
        self.held = np.concatenate([self.held, packet.data[:SCALP]], axis=1)[:, -(self.lead_n + 370) :]
        answer = None
        if self.left is not None:
            self.left -= packet.data.shape[1]
            if self.left <= 0:
                self.left = None
                rows, model = self.models[packet.subject]
                answer = int(model.predict(self.filtered(self.held)[rows][None])[0])
        if (packet.data[-1] == 249).any():
            self.left = 370
        return answer


class CspLda(_Windowed):
    """CSP (MNE) and a linear discriminant."""

    def pipeline(self) -> Any:
        from mne.decoding import CSP
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.pipeline import make_pipeline

        return make_pipeline(CSP(6, reg=0.05, log=True), LinearDiscriminantAnalysis())


class TangentSpace(_Windowed):
    """Riemannian tangent space (pyriemann) and logistic regression."""

    def pipeline(self) -> Any:
        from pyriemann.estimation import Covariances
        from pyriemann.tangentspace import TangentSpace as Tangent
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        return make_pipeline(Covariances("oas"), Tangent(), LogisticRegression(max_iter=1000))


class SlidingFbcca:
    """FBCCA on a sliding window of 1.5 s, one threshold on the margin between best and second."""

    window_n, stride, threshold, quiet_n = 375, 5, 0.05, 1000

    def start(self, info: dict[str, Any]) -> None:
        from scipy.signal import butter

        time = np.arange(self.window_n) / 250
        waves = [
            np.concatenate(
                [[np.sin(2 * np.pi * h * hz * time), np.cos(2 * np.pi * h * hz * time)] for h in range(1, 5)]
            )
            for hz in 8 + 0.2 * np.arange(40)
        ]
        self.bases = np.stack([np.linalg.qr(wave.T - wave.T.mean(axis=0))[0] for wave in waves])
        self.bands = [butter(4, (low, 90), "bandpass", fs=250, output="sos") for low in (6, 14, 22)]
        self.weights = np.arange(1, 4) ** -1.25 + 0.25
        self.held = np.zeros((len(OCCIPITAL), 0))
        self.wait = 0

    def step(self, packet: Any) -> int | None:
        from scipy.signal import sosfiltfilt

        if packet.start == 0:
            self.held, self.wait = self.held[:, :0], 0
        self.held = np.concatenate([self.held, packet.data[list(OCCIPITAL)]], axis=1)[:, -self.window_n :]
        self.wait = max(0, self.wait - packet.data.shape[1])
        if self.wait or self.held.shape[1] < self.window_n or packet.number % self.stride:
            return None
        live = self.held[np.ptp(self.held, axis=1) > 0]
        rho = np.zeros(40)
        for weight, sos in zip(self.weights, self.bands, strict=True):
            basis = np.linalg.qr(sosfiltfilt(sos, live, axis=1).T)[0]
            rho += weight * np.linalg.norm(self.bases.transpose(0, 2, 1) @ basis, 2, axis=(1, 2)) ** 2
        best = np.argsort(rho)[::-1]
        if rho[best[0]] - rho[best[1]] < self.threshold * rho.mean():
            return None
        self.wait = self.quiet_n
        return int(best[0]) + 1


PEERS: dict[str, dict[str, type]] = {
    "imagery": {"CSP + LDA (MNE)": CspLda, "tangent space + LR (pyriemann)": TangentSpace},
    "speller": {"sliding FBCCA, 1.5 s": SlidingFbcca},
}
"""Peers by challenge. Reference entries and baselines are played beside them."""
