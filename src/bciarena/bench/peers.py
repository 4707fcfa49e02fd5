"""Peers: the usual pipelines of the field as plain entries, for a comparison on equal terms.

This module has what several contests share; each contest's own peers and tracks are in its folder (bench.py). A peer is
fitted on the training folder alone (``fit(sets)``) and has one window and, where it must detect something, one
threshold, as such pipelines are commonly used. Thresholds are either learnt from the training folder or, where a
contest releases none, set on development recordings in the peer's favour.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook

Array = NDArray[np.float64]
STRANGER = 0
OCCIPITAL = (42, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58)  # of the 64-row cap: Pz, POz, PO3-PO8, Oz, O1, O2


class RealTrack(NamedTuple):
    """Real recordings below the folder given with --data: their name, the training folder and the scored one."""

    name: str
    train: str | None
    test: str
    short: bool = False  # so short that slow peers can play it
    idle: bool = False  # nobody spells: alarms per minute are reported
    layout: Callable[[Array], Array] | None = None  # what each block's samples and trigger row are made into first


@dataclass(frozen=True)
class Bench:
    """What a contest's bench.py offers as BENCH.

    Attributes
    ----------
    people : int
        How many simulated people are played; 0 for none.
    train, test : tuple of str, str
        The sets of the simulated track; several training sets share a folder.
    blocks : int, optional
        Blocks of each simulated set; default: what the text says.
    real : sequence of RealTrack
    peers : mapping of str to class
        Peers by their names on the page.
    slow : frozenset of str
        Peers that play short tracks only.
    measure, unit : str
        The rate that figures show, and its unit, where that is not the score.
    smaller : callable, optional
        Where blocks mix people: writes a smaller training folder (training folder, new folder, share of each person's
        calibration, share of the people shown besides) and returns trials a person and people. See `bench.curves`.
    """

    people: int = 0
    train: tuple[str, ...] = ("train",)
    test: str = "test"
    blocks: int | None = None
    real: Sequence[RealTrack] = ()
    peers: Mapping[str, type] = field(default_factory=dict)
    slow: frozenset[str] = frozenset()
    measure: str = "score"
    unit: str = ""
    smaller: Callable[[Path, Path, float, float], tuple[float, int]] | None = None


def bench_of(challenge: str | Rulebook) -> Bench:
    """The contest's own bench, or an empty one."""
    return contest(challenge).part("bench", Bench, Bench())


class Windowed(ABC):
    """A scikit-learn pipeline per person (``pipeline``) on one band-passed window after a trial opened."""

    rate, packet_n, rows, band_hz = 250, 10, 59, (8.0, 30.0)
    lead_n, window_n = 125, 370  # filtered together with the samples before, so that the window has no edge
    codes: tuple[int, ...]  # that open a trial in training data
    mark: int  # what stands for them in the stream

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
        grouped[STRANGER] = [pair for pairs in grouped.values() for pair in pairs]
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

    def of(self, subject: int) -> tuple[list[int], Any]:
        """Rows with signal and the pipeline of a person; of everyone for a person without training data."""
        return self.models.get(subject, self.models[STRANGER])

    def answer(self, subject: int) -> int:
        rows, model = self.of(subject)
        return int(model.predict(self.filtered(self.held)[rows][None])[0])


class CspLda(Windowed):
    """CSP (MNE) and a linear discriminant."""

    def pipeline(self) -> Any:
        from mne import set_log_level
        from mne.decoding import CSP
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.pipeline import make_pipeline

        set_log_level("ERROR")
        return make_pipeline(CSP(6, reg=0.05, log=True), LinearDiscriminantAnalysis())


class TangentSpace(Windowed):
    """Riemannian tangent space (pyriemann) and logistic regression."""

    def pipeline(self) -> Any:
        from pyriemann.estimation import Covariances
        from pyriemann.tangentspace import TangentSpace as Tangent
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        return make_pipeline(Covariances("oas"), Tangent(), LogisticRegression(max_iter=1000))


def references(freqs_hz: Any, time_s: Array, harmonics: int) -> Array:
    """Orthonormal bases (targets, samples, 2 harmonics) of sines and cosines."""
    bases = []
    for hz in freqs_hz:
        angle = 2 * np.pi * hz * np.outer(np.arange(1, harmonics + 1), time_s)
        wave = np.concatenate([np.sin(angle), np.cos(angle)]).T
        bases.append(np.linalg.qr(wave - wave.mean(axis=0))[0])
    return np.stack(bases)


def canonical(signal: Array, bases: Array) -> Array:
    """Largest canonical correlation of (channels, samples) with each basis."""
    basis = np.linalg.qr((signal - signal.mean(axis=1, keepdims=True)).T)[0]
    return np.asarray(np.linalg.norm(bases.transpose(0, 2, 1) @ basis, 2, axis=(1, 2)))
