"""Causal filter banks that keep their state from packet to packet.

A filter that sees a block in packets of ten samples gives the same output, up to rounding, as one that sees it whole:
the state of every section is carried over. Nothing here looks ahead.

A packet goes through all bands in one matrix product: filtering is linear in samples and state. Calls of
``sosfilt``, one per band, would cost the speller thirty times as much.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from bciarena.errors import BadInput

Array = NDArray[np.float64]

MATRIX_UP_TO_N = 48  # up to this many samples a product with one matrix is quicker than the loop over sections


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
        self._states_n = 2 * (len(self.shared) + sum(map(len, self.bands)))
        self._steps: dict[int, Array] = {}
        self.reset()

    def reset(self) -> None:
        """Forget the past: call at the start of each block."""
        self._level: Array | None = None
        self._state = np.zeros((self._states_n, self.channels))

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
        n = x.shape[1]
        if n > MATRIX_UP_TO_N:
            out, self._state = self._filtered(x, self._state)
            return out
        if n not in self._steps:
            self._steps[n] = self._step(n)
        both: Array = self._steps[n] @ np.concatenate([x.T, self._state])
        split = len(self.bands) * n
        self._state = both[split:]
        return both[:split].reshape(len(self.bands), n, self.channels).transpose(0, 2, 1)

    def _filtered(self, x: Array, state: Array) -> tuple[Array, Array]:
        """All bands of any number of channels, and the state after them; the state has a column per channel."""
        sections = np.cumsum([len(self.shared), *map(len, self.bands)])
        first, *rest = np.split(state.reshape(-1, 2, state.shape[1]).transpose(0, 2, 1), sections[:-1])
        if len(self.shared):
            x, first = signal.sosfilt(self.shared, x, axis=-1, zi=first)
        each = [signal.sosfilt(sos, x, axis=-1, zi=held) for sos, held in zip(self.bands, rest, strict=True)]
        after = np.concatenate([first, *(held for _, held in each)]).transpose(0, 2, 1)
        return np.stack([out for out, _ in each]), after.reshape(state.shape)

    def _step(self, n: int) -> Array:
        """What n samples and the state become, as one matrix: its columns are the answers to unit inputs and states."""
        unit = np.eye(n + self._states_n)
        out, after = self._filtered(np.ascontiguousarray(unit[:, :n]), unit[n:])
        return np.concatenate([out.transpose(0, 2, 1).reshape(-1, len(unit)), after])

    def _repair(self, x: Array) -> Array:
        if x.ndim != 2 or x.shape[0] != self.channels:
            raise BadInput(f"the filter bank was made for {self.channels} channels, the packet is {x.shape}")
        if self._level is None:
            # The first sample is taken as zero: an offset of millivolts would make the high-pass ring.
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
