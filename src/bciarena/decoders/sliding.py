"""Filter-bank CCA on a stream: windows that end now, of several lengths, for all targets, every packet.

Sums over a window are differences of running sums, so a packet costs the same whatever the windows' lengths:
nothing is computed twice. All windows that fit are computed at once: with arrays this small the calls cost most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bciarena.errors import BadInput

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class SlidingFBCCA:
    """Canonical correlations of the last w packets with every target's references, band by band.

    Parameters
    ----------
    freqs_hz : array (K,)
        Target frequencies.
    rate : float
        Sampling rate, Hz.
    packet_n : int
        Samples per push.
    windows : sequence of int
        Window lengths, in packets, ascending.
    band_lows_hz : sequence of float
        Lower edge of each of the B bands: a band is compared with the harmonics that lie in it, so that strong alpha
        waves, which leak through the edge, do not count in the bands above them.
    channels, harmonics : int
        Sizes C, H.
    skip_hz : sequence of (line_hz, distance_hz)
        Harmonics nearer to a mains line are left out.

    Notes
    -----
    With C channels and 2H references there are up to min(C, 2H) canonical correlations r_i; the score of a band is
    ``(sum r_i^8)^(1/4)``, which is r_1^2 within a few per cent and needs no eigenvalues.
    """

    def __init__(
        self,
        freqs_hz: ArrayLike,
        rate: float,
        packet_n: int,
        windows: Sequence[int],
        band_lows_hz: Sequence[float],
        channels: int,
        harmonics: int = 5,
        skip_hz: Sequence[tuple[float, float]] = (),
    ) -> None:
        freqs = np.asarray(freqs_hz, dtype=float)
        self.shape = (len(band_lows_hz), channels, len(freqs), harmonics)
        self.packet_n = packet_n
        self.windows = list(windows)
        self.harmonics_hz = np.outer(freqs, np.arange(1, harmonics + 1))
        self.usable = self.harmonics_hz < rate / 2
        for line, apart in skip_hz:
            self.usable &= np.abs(self.harmonics_hz - line) > apart
        lows = np.asarray(band_lows_hz, dtype=float)
        self._in_band = self.usable & (self.harmonics_hz >= lows[:, None, None] - 0.5)  # (B, K, H)
        if not self.usable.any(axis=1).all():
            raise BadInput("a target has no harmonic left away from the mains")
        # 12.2 Hz loses its 4th and 5th harmonic to 50 and 60 Hz: then the highest one below the band is used instead.
        highest = self.usable & (np.cumsum(self.usable[:, ::-1], axis=1)[:, ::-1] == 1)
        self._in_band |= highest & ~self._in_band.any(axis=2, keepdims=True)
        if self.windows != sorted(self.windows):
            raise BadInput(f"windows must ascend, these do not: {self.windows}")
        if self.windows[0] * packet_n <= 2 * harmonics:
            raise BadInput(f"a window of {self.windows[0]} packets is too short for {harmonics} harmonics")
        turn = -2j * np.pi * self.harmonics_hz.ravel() / rate
        self._wave = np.exp(np.arange(packet_n)[:, None] * turn)
        self._step = np.exp(packet_n * turn)
        self._lengths = np.array(self.windows)
        self._back = np.exp(-np.outer(self._lengths, packet_n * turn))
        self._whiten = np.stack([self._reference_whitener(w * packet_n, rate) for w in self.windows])
        self._depth = self.windows[-1] + 1
        self.reset()

    def _reference_whitener(self, n: int, rate: float) -> Array:
        """Inverse Cholesky factors (B, K, 2H, 2H) that make each target's references orthonormal."""
        bands, _, targets, harmonics = self.shape
        t = np.arange(n) / rate
        out = np.zeros((bands, targets, 2 * harmonics, 2 * harmonics))
        for k in range(targets):
            angle = 2 * np.pi * np.outer(self.harmonics_hz[k], t)
            rows = np.stack([np.cos(angle), -np.sin(angle)], axis=1).reshape(2 * harmonics, n)
            gram = rows @ rows.T
            for b in range(bands):
                kept = np.flatnonzero(np.repeat(self._in_band[b, k], 2))
                part = np.linalg.cholesky(gram[np.ix_(kept, kept)])
                out[b, k][np.ix_(kept, kept)] = np.linalg.inv(part).T
        return out

    def reset(self) -> None:
        """Forget the stream: call at the start of each block."""
        bands, channels, targets, harmonics = self.shape
        self.packets = 0
        self._phase = np.ones(targets * harmonics, dtype=complex)
        self._sums = np.zeros((self._depth, bands * channels, targets * harmonics), dtype=complex)
        self._covs = np.zeros((self._depth, bands, channels, channels))

    def push(self, x: Array) -> None:
        """Take in the next packet, filtered: (bands, channels, packet_n)."""
        bands, channels, *_ = self.shape
        if x.shape != (bands, channels, self.packet_n):
            raise BadInput(f"expected a packet of {(bands, channels, self.packet_n)}, got {x.shape}")
        last, now = self.packets % self._depth, (self.packets + 1) % self._depth
        self._sums[now] = self._sums[last] + x.reshape(bands * channels, -1) @ (self._wave * self._phase)
        self._covs[now] = self._covs[last] + x @ x.transpose(0, 2, 1)
        self._phase = self._phase * self._step
        self.packets += 1

    def _then(self) -> tuple[NDArray[np.int64], Complex]:
        """Where the running sums before each window that fits are, and the phase rotation to its start."""
        n = np.searchsorted(self._lengths, self.packets, side="right")
        return (self.packets - self._lengths[:n]) % self._depth, (self._phase * self._back[:n]).conj()

    def sums(self, band: int) -> Complex:
        """Sums over each window that fits of x(t) exp(-2 pi i h f_k t) in one band, (windows, K, H, C)."""
        _, channels, targets, harmonics = self.shape
        rows = slice(band * channels, (band + 1) * channels)
        then, start = self._then()
        difference = (self._sums[self.packets % self._depth, rows] - self._sums[then, rows]) * start[:, None]
        return np.asarray(difference.reshape(-1, channels, targets, harmonics).transpose(0, 2, 3, 1))

    def scores(self) -> Array:
        """Band scores (windows, B, K) of each window that fits; 0..1, slightly above 1 at most."""
        bands, channels, targets, harmonics = self.shape
        now = self.packets % self._depth
        then, start = self._then()
        cross = (self._sums[now] - self._sums[then]) * start[:, None]
        cov = self._covs[now] - self._covs[then]
        # Flat and doubled channels: the ridge keeps the factor defined, their share of the cross term is zero.
        level = np.trace(cov, axis1=2, axis2=3) / channels
        cov = cov + (1e-6 * level + 1e-12)[..., None, None] * np.eye(channels)
        whitener = np.linalg.inv(np.linalg.cholesky(cov))
        pairs = cross.view(np.float64).reshape(-1, bands, channels, targets * 2 * harmonics)
        white = (whitener @ pairs).reshape(-1, bands, channels, targets, 2 * harmonics).transpose(0, 1, 3, 2, 4)
        white = white @ self._whiten[: len(then)]
        gram = white @ white.swapaxes(-1, -2)
        square = gram @ gram
        return np.asarray(np.einsum("...ij,...ij->...", square, square) ** 0.25)
