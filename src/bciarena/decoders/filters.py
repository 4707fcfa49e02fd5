"""Causal filter banks that keep their state from packet to packet.

A filter that sees a block in packets of ten samples gives the same output as one that sees it whole, to
the last bit but rounding: the state of every section is carried over. Nothing here looks ahead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from bciarena.errors import BadInput

Array = NDArray[np.float64]


def high_pass(cut_hz: float, rate: float, order: int = 4) -> Array:
    """Butterworth high-pass as second-order sections, shape (sections, 6)."""
    return np.asarray(signal.butter(order, cut_hz, "high", fs=rate, output="sos"))


def low_pass(cut_hz: float, rate: float, order: int = 4) -> Array:
    """Butterworth low-pass as second-order sections, shape (sections, 6)."""
    return np.asarray(signal.butter(order, cut_hz, "low", fs=rate, output="sos"))


def band_pass(low_hz: float, high_hz: float, rate: float, order: int = 4) -> Array:
    """Butterworth band-pass as second-order sections, shape (sections, 6)."""
    return np.asarray(signal.butter(order, (low_hz, high_hz), "band", fs=rate, output="sos"))


def notch(line_hz: float, width_hz: float, rate: float) -> Array:
    """Notch at a mains line, ``width_hz`` wide at -3 dB, shape (1, 6).

    Make it wide (4-6 Hz): a narrow one rings for seconds, and what it lets through of a strong line is a
    steady tone that a frequency detector takes for a harmonic of some key.
    """
    b, a = signal.iirnotch(line_hz, line_hz / width_hz, rate)
    return np.asarray(signal.tf2sos(b, a))


class FilterBank:
    """Several causal filters side by side over the same channels.

    Parameters
    ----------
    shared : sequence of ndarray (sections, 6)
        Applied first, once, to every channel (notches, a low-pass, ...).
    bands : sequence of ndarray (sections, 6)
        One filter per band, each applied to the output of `shared`.
    channels : int
        Number of channels.
    """

    def __init__(self, shared: Sequence[Array], bands: Sequence[Array], channels: int) -> None:
        if channels < 1 or not bands:
            raise BadInput("a filter bank needs at least one channel and one band")
        self.channels = channels
        self.shared = np.concatenate(list(shared)) if shared else np.zeros((0, 6))
        self.bands = list(bands)
        self.reset()

    def reset(self) -> None:
        """Forget the past: call at the start of each block."""
        self._level: Array | None = None
        self._shared_state = np.zeros((len(self.shared), self.channels, 2))
        self._band_states = [np.zeros((len(sos), self.channels, 2)) for sos in self.bands]

    def push(self, packet: Array) -> Array:
        """Filter the next samples.

        Parameters
        ----------
        packet : ndarray (channels, n)
            Any unit. A sample that is NaN or infinite is replaced by the channel's last good one, since it
            would otherwise stay in the filter for ever.

        Returns
        -------
        ndarray (bands, channels, n)
        """
        x = self._repair(np.asarray(packet, dtype=np.float64))
        if len(self.shared):
            x, self._shared_state = signal.sosfilt(self.shared, x, axis=-1, zi=self._shared_state)
        out = np.empty((len(self.bands), *x.shape))
        for i, sos in enumerate(self.bands):
            out[i], self._band_states[i] = signal.sosfilt(sos, x, axis=-1, zi=self._band_states[i])
        return out

    def _repair(self, x: Array) -> Array:
        if x.ndim != 2 or x.shape[0] != self.channels:
            raise BadInput(f"the filter bank was made for {self.channels} channels, the packet is {x.shape}")
        if self._level is None:
            # The first sample is taken as the zero line: an offset of millivolts would ring through the high-pass.
            first = x[:, :1] if x.shape[1] else np.zeros((self.channels, 1))
            self._level = np.where(np.isfinite(first), first, 0.0)
            self._last = np.zeros((self.channels, 1))
        x = x - self._level
        if not np.isfinite(x).all():
            good = np.isfinite(x)
            x = np.concatenate([self._last, x], axis=1)
            index = np.where(np.concatenate([np.ones_like(self._last, bool), good], axis=1), np.arange(x.shape[1]), 0)
            x = np.take_along_axis(x, np.maximum.accumulate(index, axis=1), axis=1)[:, 1:]
        if x.shape[1]:
            self._last = x[:, -1:].copy()
        return x

    def response(self, freqs_hz: Array, rate: float) -> NDArray[np.complex128]:
        """Complex gain of every band at `freqs_hz` (any shape), shape (bands, \\*freqs.shape)."""
        w = 2 * np.pi * np.ravel(freqs_hz) / rate
        common = signal.freqz_sos(self.shared, w)[1] if len(self.shared) else np.ones(len(w))
        gains = [common * signal.freqz_sos(sos, w)[1] for sos in self.bands]
        return np.asarray(gains).reshape(len(self.bands), *np.shape(freqs_hz))
