"""Tracks and peers of the Turing test."""

from __future__ import annotations

from typing import Any

import numpy as np

from bciarena.bench.peers import OCCIPITAL, Array, Bench, CspLda, canonical, references
from bciarena.contests.turing.rules import BEHAVIOURS, SSVEP_HZ

SCALP = 59


class CcaCsp(CspLda):
    """CCA for the flickers, CSP (MNE) and a linear discriminant for the rest, after 3.5 s.

    A flicker counts as present above the 90 % quantile of the correlations in training trials, which have none.
    """

    lead_n, window_n = 125, 875
    freqs_hz = tuple(SSVEP_HZ.values())

    def __init__(self) -> None:
        super().__init__()
        from scipy.signal import butter

        self.flicker_sos = butter(4, (12, 60), "bandpass", fs=self.rate, output="sos")
        time = np.arange(self.window_n) / self.rate
        self.bases = references(self.freqs_hz, time, 2)
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
        return canonical(held[:, self.lead_n :], self.bases)

    def opened(self, packet: Any) -> bool:
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
        rows, model = self.of(subject)
        odds = dict(zip(model.classes_, model.predict_proba(self.filtered(self.held)[rows][None])[0], strict=True))
        return max((task for task in self.possible if task not in flickers), key=lambda task: odds[task])


BENCH = Bench(people=2, peers={"CCA, CSP + LDA (MNE)": CcaCsp})
