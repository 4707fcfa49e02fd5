"""Tracks and peers of liveness."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.bench.peers import Array, Bench, RealTrack
from bciarena.recording import open_sets
from bciarena.recording.write import write_contest


class TangentTrees:
    """Who by tangent space (pyriemann) and a linear discriminant, real or not by boosted trees.

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
    """Half overlapping windows of all trials of a set, and their trials' codes."""
    eeg, codes = [], []
    for _, _, block in recording:
        for start, end in zip(block.events, block.events[1:], strict=False):
            if end.code == 241:
                for first in range(start.sample + 1, end.sample - window_n + 1, window_n // 2):
                    eeg.append(np.asarray(block.eeg[:, first : first + window_n], float))
                    codes.append(start.code)
    return np.array(eeg), np.array(codes)


def smaller(train: Path, out: Path, calibration: float, shown: float) -> tuple[float, int]:
    """A training folder with a share of each person's calibration trials, and a share of the people shown besides.

    Returns calibration trials a person, and people shown besides: those of cali_train and eval_train.
    """
    sets = open_sets(train)
    scored = max(name for name in sets if name.startswith("cali_") and name != "cali_train")
    codes = {
        name: Counter(event.code for _, _, b in sets[name] for event in b.events if event.code < 240) for name in sets
    }
    others = sorted({code % 64 for code in codes["cali_train"]})
    others = others[: round(shown * len(others))]
    kept_n = 0
    for name, recording in sets.items():
        met: Counter[int] = Counter()
        for subject, number, block in recording:
            starts = [event for event in block.events if event.code < 240]
            edges = [event.sample for event in starts] + [block.samples]
            data, pieces = block.data, [slice(0, edges[0])]
            for event, end in zip(starts, edges[1:], strict=True):
                met[event.code] += 1
                few = met[event.code] <= max(1, round(calibration * codes[name][event.code]))
                if few if name == scored else event.code % 64 in others:
                    pieces.append(slice(event.sample, end))
                    kept_n += name == scored
            path = out / name / f"S{subject:02d}" / f"block_{number}.npz"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_contest(path, np.concatenate([data[:, p] for p in pieces], axis=1), block.rate, block.channels)
    return kept_n / len({code % 64 for code in codes[scored]}), len(others)


BENCH = Bench(
    people=23,
    train=("cali_train", "eval_train", "cali_B"),
    test="eval_B",
    blocks=6,
    real=(RealTrack("real", "liveness", "liveness/eval_A"),),
    peers={"tangent space + LDA, boosted trees": TangentTrees},
    smaller=smaller,
)
