"""What others would play: the usual pipelines of the field as plain entries, for comparison on the same footing.

Each is fitted on the training folder alone (``fit(sets)``) and has one window and, where it must tell nothing from
something, one threshold, as such pipelines are commonly used. Thresholds are either learnt from the training folder
or, where the challenge releases none (speller), set on development recordings in the peer's favour.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SCALP = 59
OCCIPITAL = (42, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58)  # Pz, POz, PO3-PO8, Oz, O1, O2


class _Windowed(ABC):
    """A scikit-learn pipeline per person (``pipeline``) on one band-passed window after the cue: imagery."""

    rate, packet_n, rows, band_hz = 250, 10, SCALP, (8.0, 30.0)
    lead_n, window_n = 125, 370  # filtered together with the samples before, so that the window has no edge
    codes: tuple[int, ...] = (201, 202, 203)
    mark = 249

    def __init__(self) -> None:
        from scipy.signal import butter

        self.sos = butter(4, self.band_hz, "bandpass", fs=self.rate, output="sos")
        self.models: dict[int, tuple[list[int], Any]] = {}

    @abstractmethod
    def pipeline(self) -> Any:
        """A new pipeline with fit(X, y) and predict(X)."""

    def fit(self, sets: dict[str, Any]) -> None:
        (recording,) = sets.values()
        grouped: dict[int, list[tuple[Array, int]]] = {}
        for subject, _, block in recording:
            grouped.setdefault(subject, []).extend(self.trials(block))
        for subject, pairs in grouped.items():
            live = [row for row in range(self.rows) if np.ptp([p[row] for p, _ in pairs]) > 0]
            x = np.array([p[live] for p, _ in pairs])
            self.models[subject] = (live, self.pipeline().fit(x, [label for _, label in pairs]))

    def trials(self, block: Any) -> list[tuple[Array, int]]:
        """Filtered windows and labels of a block."""
        found = []
        for event in block.events:
            if event.code in self.codes:
                start = (event.sample // self.packet_n + 1) * self.packet_n
                piece = block.eeg[: self.rows, start - self.lead_n : start + self.window_n]
                if piece.shape[1] == self.lead_n + self.window_n:
                    found.append((self.filtered(np.asarray(piece, float)), int(event.code)))
        return found

    def filtered(self, piece: Array) -> Array:
        from scipy.signal import sosfilt

        return np.asarray(sosfilt(self.sos, piece, axis=1)[:, self.lead_n :])

    def start(self, info: dict[str, Any]) -> None:
        self.held = np.zeros((self.rows, 0))
        self.left: int | None = None

    def step(self, packet: Any) -> int | None:
        if packet.start == 0:
            self.held, self.left = self.held[:, :0], None
        kept_n = self.lead_n + self.window_n
        self.held = np.concatenate([self.held, packet.data[: self.rows]], axis=1)[:, -kept_n:]
        answer = None
        if self.left is not None:
            self.left -= packet.data.shape[1]
            if self.left <= 0:
                self.left = None
                answer = self.answer(packet.subject)
        if self.opened(packet):
            self.left = self.window_n
        return answer

    def opened(self, packet: Any) -> bool:
        """Whether a trial opened in this packet."""
        return bool((packet.data[-1] == self.mark).any())

    def answer(self, subject: int) -> int:
        rows, model = self.models[subject]
        return int(model.predict(self.filtered(self.held)[rows][None])[0])


class CspLda(_Windowed):
    """CSP (MNE) and a linear discriminant."""

    def pipeline(self) -> Any:
        from mne import set_log_level
        from mne.decoding import CSP
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.pipeline import make_pipeline

        set_log_level("ERROR")
        return make_pipeline(CSP(6, reg=0.05, log=True), LinearDiscriminantAnalysis())


class TangentSpace(_Windowed):
    """Riemannian tangent space (pyriemann) and logistic regression."""

    def pipeline(self) -> Any:
        from pyriemann.estimation import Covariances
        from pyriemann.tangentspace import TangentSpace as Tangent
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        return make_pipeline(Covariances("oas"), Tangent(), LogisticRegression(max_iter=1000))


class AugmentedCovariance(_Windowed):
    """Augmented covariance, tangent space and SVM, as in MOABB's benchmark (Carrara & Papadopoulo 2024)."""

    def pipeline(self) -> Any:
        from moabb.pipelines.features import AugmentedDataset
        from pyriemann.estimation import Covariances
        from pyriemann.tangentspace import TangentSpace as Tangent
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import SVC

        return make_pipeline(AugmentedDataset(order=2, lag=8), Covariances("oas"), Tangent(), SVC(kernel="linear"))


class _Limb(_Windowed):
    """The same on rehab's trials, which have nothing before them."""

    rate, packet_n, rows, lead_n, window_n = 1000, 40, 77, 0, 3600
    codes, mark = (1, 2, 3, 4), 200

    def filtered(self, piece: Array) -> Array:
        from scipy.signal import sosfilt

        # The filter starts inside the trial: what rings is cut off; then 250 Hz are plenty for 30 Hz.
        return np.asarray(sosfilt(self.sos, piece - piece[:, :1], axis=1)[:, 400::4])


class LimbCspLda(_Limb, CspLda):
    """CSP (MNE) and a linear discriminant."""


class LimbTangentSpace(_Limb, TangentSpace):
    """Riemannian tangent space (pyriemann) and logistic regression."""


class CcaCsp(CspLda):
    """Turing: CCA for the flickers, CSP (MNE) and a linear discriminant for the rest, after 3.5 s.

    A flicker is taken for present above the 90 % quantile of what training trials, which have none, reach.
    """

    lead_n, window_n = 125, 875
    freqs_hz = (15.4, 15.5, 15.6, 15.7)

    def __init__(self) -> None:
        super().__init__()
        from scipy.signal import butter

        self.flicker_sos = butter(4, (12, 60), "bandpass", fs=self.rate, output="sos")
        time = np.arange(self.window_n) / self.rate
        self.bases = _references(self.freqs_hz, time, 2)
        self.quiet: list[float] = []

    def trials(self, block: Any) -> list[tuple[Array, int]]:
        found = []
        for event in block.events:
            places = [(event.sample, event.code & 7)] if 0 < event.code < 128 else []
            places += [(event.sample + 250, 7)] if event.code == 241 else []
            for sample, label in places:
                start = (sample // self.packet_n + 1) * self.packet_n
                piece = np.asarray(block.eeg[:SCALP, start - self.lead_n : start + self.window_n], float)
                if piece.shape[1] == self.lead_n + self.window_n:
                    found.append((self.filtered(piece), int(label)))
                    self.quiet.append(float(self.correlations(piece).max()))
        return found

    def correlations(self, piece: Array) -> Array:
        from scipy.signal import sosfilt

        held = sosfilt(self.flicker_sos, piece[list(OCCIPITAL)] - piece[list(OCCIPITAL), :1], axis=1)
        return _canonical(held[:, self.lead_n :], self.bases)

    def opened(self, packet: Any) -> bool:
        from bciarena.contests.turing.rules import BEHAVIOURS

        for code in packet.data[-1]:
            if 0 < code < 128:
                self.possible = tuple(BEHAVIOURS[int(code) >> 3][2])
                return True
        return False

    def answer(self, subject: int) -> int:
        flickers = [task for task in self.possible if 3 <= task <= 6]
        rho = self.correlations(self.held)
        best = max(flickers, key=lambda task: rho[task - 3])
        if rho[best - 3] > np.quantile(self.quiet, 0.9) or len(flickers) == len(self.possible):
            return best
        rows, model = self.models[subject]
        odds = dict(zip(model.classes_, model.predict_proba(self.filtered(self.held)[rows][None])[0], strict=True))
        return max((task for task in self.possible if task not in flickers), key=lambda task: odds[task])


class SlidingFbcca:
    """FBCCA on a sliding window of 1.5 s, one threshold on the margin between the best and the next five."""

    window_n, stride, threshold, quiet_n = 375, 5, 0.42, 1000

    def start(self, info: dict[str, Any]) -> None:
        from scipy.signal import butter

        self.bases = _references(8 + 0.2 * np.arange(40), np.arange(self.window_n) / 250, 4)
        self.bands = [butter(4, (low, 90), "bandpass", fs=250, output="sos") for low in (6, 14, 22)]
        self.notch = butter(2, (47, 53), "bandstop", fs=250, output="sos")
        self.held = np.zeros((len(OCCIPITAL), 0))
        self.wait = 0

    def step(self, packet: Any) -> int | None:
        if packet.start == 0:
            self.held, self.wait = self.held[:, :0], 0
        self.held = np.concatenate([self.held, packet.data[list(OCCIPITAL)]], axis=1)[:, -self.window_n :]
        self.wait = max(0, self.wait - packet.data.shape[1])
        if self.wait or self.held.shape[1] < self.window_n or packet.number % self.stride:
            return None
        live = self.held[np.ptp(self.held, axis=1) > 0]
        scores = self.scores(live - live.mean(axis=1, keepdims=True))
        order = np.argsort(scores)
        if scores[order[-1]] - scores[order[-6:-1]].mean() < self.threshold:
            return None
        self.wait = self.quiet_n
        return int(order[-1]) + 1

    def scores(self, live: Array) -> Array:
        """Weighted squared correlations (40,) of a window (channels, samples)."""
        from scipy.signal import sosfiltfilt

        clean = sosfiltfilt(self.notch, live, axis=1)
        bands = np.array(
            [
                (k**-1.25 + 0.25) * _canonical(sosfiltfilt(sos, clean, axis=1), self.bases) ** 2
                for k, sos in enumerate(self.bands, 1)
            ]
        )
        return np.asarray(bands.sum(axis=0))


class MetaBci(SlidingFbcca):
    """The same with MetaBCI's own FBSCCA, looked at every 0.8 s, since a look takes it 0.2 to 0.5 s."""

    stride, threshold = 20, 0.36

    def start(self, info: dict[str, Any]) -> None:
        from metabci.brainda.algorithms.decomposition import FBSCCA
        from metabci.brainda.algorithms.decomposition.base import generate_cca_references, generate_filterbank

        super().start(info)
        bank = generate_filterbank(
            [(low, 90) for low in (6, 14, 22)], [(low - 2, 95) for low in (6, 14, 22)], 250, order=4, rp=0.5
        )
        weights = np.arange(1, 4) ** -1.25 + 0.25
        references = generate_cca_references(8 + 0.2 * np.arange(40), 250, self.window_n / 250, n_harmonics=4)
        self.decoder = FBSCCA(bank, n_components=1, filterweights=weights, n_jobs=1)
        self.decoder.fit(np.zeros((1, 2, self.window_n)), np.zeros(1), Yf=references)

    def scores(self, live: Array) -> Array:
        from scipy.signal import sosfiltfilt

        return np.asarray(self.decoder.transform(sosfiltfilt(self.notch, live, axis=1)[None])[0])


class TangentTrees:
    """Liveness: who by tangent space (pyriemann) and a linear discriminant, real or not by boosted trees.

    The trees see moments and envelopes of a window of 3 s, and are shown the generated trials of eval_train.
    """

    window_n = 750
    bands_hz = ((1, 4), (4, 8), (8, 13), (13, 20), (20, 30), (30, 42))

    def __init__(self) -> None:
        from pyriemann.tangentspace import TangentSpace as Tangent
        from scipy.signal import butter
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.bands = [butter(2, hz, "bandpass", fs=250, output="sos") for hz in self.bands_hz]
        self.spaces = [Tangent() for _ in self.bands]
        self.who = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        self.real = HistGradientBoostingClassifier(random_state=0)

    def fit(self, sets: dict[str, Any]) -> None:
        scored = max(name for name in sets if name.startswith("cali_") and name != "cali_train")
        eeg, code = _pieces(sets[scored], self.window_n)
        covariances = self.covariances(eeg)
        vectors = [space.fit_transform(cov) for space, cov in zip(self.spaces, covariances, strict=True)]
        self.who.fit(np.concatenate(vectors, axis=1), code % 64)
        eeg, code = _pieces(sets["eval_train"], self.window_n)
        self.real.fit(self.shape(eeg), code > 64)

    def covariances(self, eeg: Array) -> list[Array]:
        from pyriemann.estimation import Covariances
        from scipy.signal import sosfiltfilt

        return [Covariances("oas").transform(sosfiltfilt(sos, eeg, axis=-1)) for sos in self.bands]

    def shape(self, eeg: Array) -> Array:
        from scipy.signal import hilbert, sosfiltfilt
        from scipy.stats import kurtosis, skew

        found = []
        for sos in self.bands:
            narrow = sosfiltfilt(sos, eeg, axis=-1)
            envelope = np.abs(hilbert(narrow, axis=-1))
            found += [kurtosis(narrow, axis=-1), skew(envelope, axis=-1), kurtosis(envelope, axis=-1)]
            found += [envelope.std(axis=-1) / (envelope.mean(axis=-1) + 1e-9)]
        found += [kurtosis(eeg, axis=-1), skew(eeg, axis=-1), kurtosis(np.diff(eeg, axis=-1), axis=-1)]
        return np.concatenate(found, axis=1)

    def start(self, info: dict[str, Any]) -> None:
        self.held = np.zeros((5, 0))
        self.left: int | None = None

    def step(self, packet: Any) -> str | None:
        self.held = np.concatenate([self.held, packet.data[:5]], axis=1)[:, -self.window_n :]
        answer = None
        if self.left is not None:
            self.left -= packet.data.shape[1]
            if self.left <= 0:
                self.left = None
                covariances = self.covariances(self.held[None])
                vectors = [space.transform(cov) for space, cov in zip(self.spaces, covariances, strict=True)]
                who = int(self.who.predict(np.concatenate(vectors, axis=1))[0])
                answer = f"{int(self.real.predict(self.shape(self.held[None]))[0])}{who:05b}"
        if (packet.data[-1] == 240).any():
            self.left = self.window_n
        return answer


def _pieces(recording: Any, window_n: int) -> tuple[Array, NDArray[np.int64]]:
    """Half overlapping windows of all trials of a liveness set, and their trials' codes."""
    eeg, codes = [], []
    for _, _, block in recording:
        for start, end in zip(block.events, block.events[1:], strict=False):
            if end.code == 241:
                for first in range(start.sample + 1, end.sample - window_n + 1, window_n // 2):
                    eeg.append(np.asarray(block.eeg[:, first : first + window_n], float))
                    codes.append(start.code)
    return np.array(eeg), np.array(codes)


def _references(freqs_hz: Any, time_s: Array, harmonics: int) -> Array:
    """Orthonormal bases (targets, samples, 2 harmonics) of sines and cosines."""
    bases = []
    for hz in freqs_hz:
        angle = 2 * np.pi * hz * np.outer(np.arange(1, harmonics + 1), time_s)
        wave = np.concatenate([np.sin(angle), np.cos(angle)]).T
        bases.append(np.linalg.qr(wave - wave.mean(axis=0))[0])
    return np.stack(bases)


def _canonical(signal: Array, bases: Array) -> Array:
    """Largest canonical correlation of (channels, samples) with each basis."""
    basis = np.linalg.qr((signal - signal.mean(axis=1, keepdims=True)).T)[0]
    return np.asarray(np.linalg.norm(bases.transpose(0, 2, 1) @ basis, 2, axis=(1, 2)))


PEERS: dict[str, dict[str, type]] = {
    "imagery": {
        "CSP + LDA (MNE)": CspLda,
        "tangent space + LR (pyriemann)": TangentSpace,
        "augmented covariance + SVM (MOABB)": AugmentedCovariance,
    },
    "turing": {"CCA, CSP + LDA (MNE)": CcaCsp},
    "speller": {"sliding FBCCA, 1.5 s": SlidingFbcca},
    "liveness": {"tangent space + LDA, boosted trees": TangentTrees},
    "rehab": {"CSP + LDA (MNE)": LimbCspLda, "tangent space + LR (pyriemann)": LimbTangentSpace},
}
"""Peers by challenge. Reference entries and baselines are played beside them."""
if find_spec("metabci") is not None:
    PEERS["speller"]["sliding FBSCCA, 1.5 s (MetaBCI)"] = MetaBci
