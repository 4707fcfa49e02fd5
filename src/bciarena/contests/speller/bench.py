"""Tracks and peers of the speller; it releases no training data, so peers have fixed thresholds."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from bciarena.bench.peers import OCCIPITAL, Array, Bench, RealTrack, canonical, references
from bciarena.contests.speller.rules import FREQUENCY_HZ


class SlidingFbcca:
    """FBCCA on a sliding window of 1.5 s, one threshold on the margin between the best and the next five."""

    window_n, stride, threshold, quiet_n = 375, 5, 0.42, 1000

    def start(self, info: dict[str, Any]) -> None:
        from scipy.signal import butter

        self.bases = references(np.array(FREQUENCY_HZ), np.arange(self.window_n) / 250, 4)
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
                (k**-1.25 + 0.25) * canonical(sosfiltfilt(sos, clean, axis=1), self.bases) ** 2
                for k, sos in enumerate(self.bands, 1)
            ]
        )
        return np.asarray(bands.sum(axis=0))


class MetaBci(SlidingFbcca):
    """The same with MetaBCI's own FBSCCA, computed every 0.8 s only, since it takes 0.2 to 0.5 s."""

    stride, threshold = 20, 0.36

    def start(self, info: dict[str, Any]) -> None:
        from metabci.brainda.algorithms.decomposition import FBSCCA
        from metabci.brainda.algorithms.decomposition.base import generate_ccareferences, generate_filterbank

        super().start(info)
        bank = generate_filterbank(
            [(low, 90) for low in (6, 14, 22)], [(low - 2, 95) for low in (6, 14, 22)], 250, order=4, rp=0.5
        )
        weights = np.arange(1, 4) ** -1.25 + 0.25
        references = generate_ccareferences(np.array(FREQUENCY_HZ), 250, self.window_n / 250, n_harmonics=4)
        self.decoder = FBSCCA(bank, n_components=1, filterweights=weights, n_jobs=1)
        self.decoder.fit(np.zeros((1, 2, self.window_n)), np.zeros(1), Yf=references)

    def scores(self, live: Array) -> Array:
        from scipy.signal import sosfiltfilt

        return np.asarray(self.decoder.transform(sosfiltfilt(self.notch, live, axis=1)[None])[0])


PEERS: dict[str, type] = {"sliding FBCCA, 1.5 s": SlidingFbcca}
SLOW = "sliding FBSCCA, 1.5 s (MetaBCI)"
if find_spec("metabci") is not None:
    PEERS[SLOW] = MetaBci

BENCH = Bench(
    people=2,
    train=(),
    real=(
        RealTrack("real, spliced", None, "speller_spliced"),
        RealTrack("real, one block", None, "speller_bupt", short=True),
        RealTrack("idle, real", None, "idle", idle=True),
    ),
    peers=PEERS,
    slow=frozenset({SLOW}),
    measure="itr",  # of a part of a run; the limit on false alarms is the whole run's
    unit="bits/min",
)
