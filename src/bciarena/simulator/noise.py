"""Noise with a given spectrum, made in the frequency domain, many rows at a time."""

from __future__ import annotations

import numpy as np
import scipy.fft
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Array = NDArray[np.float64]
ROLL_OFF = 0.42
"""Everything fades above this share of the rate, as after the contest's resampling."""


def grid(samples: int, rate: int) -> tuple[int, Array]:
    """A transform length for that many samples, and its frequencies (bins,) in Hz."""
    # A second more than needed, because the inverse transform is periodic.
    length = int(scipy.fft.next_fast_len(samples + rate, real=True))
    return length, np.fft.rfftfreq(length, 1 / rate).astype(np.float64)


def coloured(rng: np.random.Generator, power: NDArray[np.floating], samples: int, rate: int) -> Floats:
    """Gaussian noise with the given spectra.

    Parameters
    ----------
    power : ndarray, shape (rows, bins)
        One-sided power spectral density in uV^2/Hz on ``grid(samples, rate)``.

    Returns
    -------
    ndarray of float32, shape (rows, samples)
        Microvolts.
    """
    length, hz = grid(samples, rate)
    # E|X|^2 = P rate N / 2, half of it in the real and half in the imaginary part.
    fade = rate * length / 4 / (1 + (hz / (ROLL_OFF * rate)) ** 24)
    scale = np.sqrt(power * fade).astype(np.float32)
    scale[:, 0] = 0
    parts = rng.standard_normal((*scale.shape, 2), dtype=np.float32)
    parts *= scale[:, :, None]
    spectrum = parts.view(np.complex64)[:, :, 0]
    wave: Floats = scipy.fft.irfft(spectrum, length, axis=1)[:, :samples]
    return wave


def peak(hz: Array, centre: float, width: float) -> Array:
    """A spectral peak of power one, shape (bins,): Gaussian, ``width`` its standard deviation in Hz."""
    shape: Array = np.exp(-0.5 * ((hz - centre) / width) ** 2) / (width * np.sqrt(2 * np.pi))
    return shape


def slow_walk(rng: np.random.Generator, samples: int, rate: int, period_s: float) -> Array:
    """A smooth random course of unit variance that changes within about ``period_s``, shape (samples,)."""
    points = int(samples / rate / period_s) + 4
    knots = rng.standard_normal(points)
    at = np.linspace(0, points - 1, samples)
    # Cosine weights between neighbours: smooth, and no overshoot.
    low = np.minimum(at.astype(int), points - 2)
    weight = 0.5 - 0.5 * np.cos(np.pi * (at - low))
    course: Array = knots[low] * np.cos(0.5 * np.pi * weight) + knots[low + 1] * np.sin(0.5 * np.pi * weight)
    return course


def ramp(samples: int, rate: int, onset_s: float, rise_s: float, end_s: float, fall_s: float) -> tuple[int, Array]:
    """A bump from 0 to 1 and back with raised-cosine flanks: its first sample and its values.

    The rise begins at ``onset_s``, the fall at ``end_s``; what is outside the block is cut off.
    """
    first, last = max(0, round(onset_s * rate)), min(samples, round((end_s + fall_s) * rate))
    time = np.arange(first, max(first, last)) / rate
    up = 0.5 - 0.5 * np.cos(np.pi * np.clip((time - onset_s) / rise_s, 0, 1))
    down = 0.5 + 0.5 * np.cos(np.pi * np.clip((time - end_s) / fall_s, 0, 1))
    return first, up * down
