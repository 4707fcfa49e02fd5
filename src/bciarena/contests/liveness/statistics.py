"""What a stretch of resting EEG looks like beyond its spectrum: a thousand statistics of shape.

A generated signal can copy spectra and cross-spectra well, and often its amplitudes too. What it tends to miss are
the ways in which real EEG is not coloured noise: rhythms that come in bursts, bands and channels that swell
together, blinks and muscle, waves that are not sinusoidal, phases that are coupled. One window of five channels
becomes one vector; nothing above 42 Hz is used, nor anything that rounding or file formats could leave behind.

Families (names of the rows of :func:`statistic_names`): moments of the signal and its differences; per band, the
spread, tails and slow swing of the envelope; correlations of envelopes over bands and channels; the energy of the
whitened signal over time, and its fourth- and third-order moments; asymmetry under time reversal; bicoherence of
bands; phase-amplitude coupling; instantaneous frequency; coherence.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from bciarena.errors import BadInput

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SRATE = 250
WINDOW_N = 735
"""Samples of a window: 2.94 s, a length that transforms fast here and at the lower rate."""
RATE = 100
LOW_N = WINDOW_N * RATE // SRATE
TOP_HZ = 42.0
BANDS = ((0.5, 4), (4, 8), (8, 13), (13, 20), (20, 30), (30, TOP_HZ))
SUMS = ((1, 8), (4.5, 12), (8, 16), (16, 26), (24, 39), (12, 21), (8.5, 17))
"""Bands that contain products of two bands; with BANDS a list of 13."""
TRIPLES = ((0, 0, 6), (0, 1, 7), (1, 1, 8), (2, 2, 9), (2, 9, 10), (1, 2, 11), (0, 2, 12))
"""Bands whose phases may add up: first + second = third."""
LAGS_N = (1, 2, 3, 5, 8, 12, 20, 30, 50)
_HZ = np.arange(LOW_N + 1) * (RATE / 2 / LOW_N)
_WEIGHTS = np.array([2.0 * ((low <= _HZ) & (high > _HZ)) for low, high in BANDS + SUMS])
_KEPT = (_HZ >= 0.5) & (_HZ <= TOP_HZ)
_WHITE = (_HZ >= 1) & (_HZ <= TOP_HZ)
_BANDS_N = len(BANDS)
_PAIRS = np.triu_indices(_BANDS_N, 1)


def statistics(windows: NDArray[np.floating]) -> Array:
    """Statistics of windows.

    Parameters
    ----------
    windows : array, shape (windows, channels, WINDOW_N)
        Microvolts at 250 Hz.

    Returns
    -------
    array, shape (windows, statistics)
        Always finite; a flat channel gives large, but finite numbers.
    """
    signal = np.asarray(windows, dtype=np.float64)
    if signal.ndim != 3 or signal.shape[2] != WINDOW_N:
        raise BadInput(f"liveness windows must have the shape (windows, channels, {WINDOW_N}), not {signal.shape}")
    found = _families(signal)
    flat = np.concatenate([part.reshape(len(signal), -1) for part in found.values()], axis=1)
    return np.asarray(np.clip(np.nan_to_num(flat), -1e3, 1e3))


@functools.cache
def statistic_names(channels_n: int = 5) -> tuple[str, ...]:
    """The family of each statistic, in the order of :func:`statistics`."""
    noise = np.random.default_rng(0).standard_normal((1, channels_n, WINDOW_N))
    return tuple(name for name, part in _families(noise).items() for _ in range(part[0].size))


def _families(signal: Array) -> dict[str, Array]:
    spectrum = _spectrum(signal)
    low = scipy.fft.irfft(spectrum, 2 * LOW_N)[..., :LOW_N]
    bands = _analytic(spectrum)
    found: dict[str, Array] = {}
    _moments(low, found)
    _envelopes(bands[:, :, :_BANDS_N], found)
    _whitened(spectrum, found)
    _reversal(low, found)
    _phases(bands, found)
    return found


def _spectrum(signal: Array) -> Complex:
    """Spectrum up to 50 Hz of the signal followed by its mirror image, which has no step at the ends."""
    signal = signal - signal.mean(axis=-1, keepdims=True)
    spectrum = scipy.fft.rfft(np.concatenate([signal, signal[..., ::-1]], axis=-1))[..., : LOW_N + 1]
    return np.asarray(spectrum * (_KEPT * (LOW_N / signal.shape[-1])))


def _analytic(spectrum: Complex) -> Complex:
    """Complex band signals, (windows, channels, bands, LOW_N)."""
    full = np.zeros((*spectrum.shape[:-1], len(_WEIGHTS), 2 * LOW_N), dtype=np.complex128)
    full[..., : LOW_N + 1] = spectrum[..., None, :] * _WEIGHTS
    return np.asarray(scipy.fft.ifft(full, overwrite_x=True)[..., :LOW_N])


def _standardised(values: Array) -> tuple[Array, Array]:
    values = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.mean(values * values, axis=-1)) + 1e-9
    return values / spread[..., None], spread


def _tails(values: Array) -> tuple[Array, Array, Array]:
    """Spread, skewness and log of the fourth moment over the last axis."""
    scaled, spread = _standardised(values)
    square = scaled * scaled
    fourth = np.log(np.maximum(np.mean(square * square, axis=-1), 0.5))
    return spread, np.mean(square * scaled, axis=-1), fourth


def _box(values: Array, width_n: int, step_n: int) -> Array:
    """Running means over ``width_n`` samples, every ``step_n``."""
    sums = np.cumsum(values, axis=-1)
    return np.asarray((sums[..., width_n:] - sums[..., :-width_n])[..., ::step_n] / width_n)


def _moments(low: Array, found: dict[str, Array]) -> None:
    for order in range(3):
        spread, skew, fourth = _tails(np.diff(low, order))
        found[f"signed skewness, difference {order}"] = skew
        found[f"kurtosis, difference {order}"] = fourth
        found[f"size, difference {order}"] = np.log(spread)


def _envelopes(bands: Complex, found: dict[str, Array]) -> None:
    power = bands.real**2 + bands.imag**2
    envelope = np.sqrt(power)
    spread, skew, fourth = _tails(envelope)
    found["spectral power"] = np.log(power.mean(axis=-1) + 1e-3)
    found["envelope variation"] = spread / (envelope.mean(axis=-1) + 1e-9)
    found["envelope skewness"] = skew
    found["envelope kurtosis"] = fourth
    found["log envelope spread"] = 0.5 * np.log(power + 2.5e-3).std(axis=-1)
    channels = np.triu_indices(bands.shape[1], 1)
    for width_n in (10, 25, 60):
        scaled, spread = _standardised(np.log(_box(power, width_n, 5) + 1e-3))
        found[f"swing over {width_n}"] = np.log(spread + 0.01)
        if width_n == 60:
            break
        count = scaled.shape[-1]
        within = np.matmul(scaled, scaled.swapaxes(-1, -2))[:, :, _PAIRS[0], _PAIRS[1]] / count
        by_band = scaled.swapaxes(1, 2)
        across = np.matmul(by_band, by_band.swapaxes(-1, -2))[:, :, channels[0], channels[1]] / count
        found[f"bands together over {width_n}"] = within.mean(axis=1)
        found[f"bands together by channel over {width_n}"] = within.mean(axis=2)
        found[f"channels together over {width_n}"] = across.mean(axis=2)
        if width_n == 25:
            found["bands together, each"] = within
            found["channels together, each"] = across
        flat = scaled.reshape(len(scaled), -1, count)
        values = np.linalg.eigvalsh(np.matmul(flat, flat.swapaxes(-1, -2)) / count)
        found[f"all together over {width_n}"] = np.log(np.maximum(values[:, -4:], 0.05))


def _whitened(spectrum: Complex, found: dict[str, Array]) -> None:
    """Statistics of the window after its own spectrum and mixing have been removed."""
    power = uniform_filter1d(np.abs(spectrum) ** 2, 4 * LOW_N // RATE, axis=-1, mode="constant")
    floor = 1e-3 * power[..., _WHITE].mean(axis=-1, keepdims=True) + 1e-9
    white = scipy.fft.irfft(spectrum * (_WHITE / np.sqrt(power + floor)), 2 * LOW_N)[..., :LOW_N]
    covariance = np.matmul(white, white.swapaxes(-1, -2)) / LOW_N
    values, vectors = np.linalg.eigh(covariance)
    scales = 1 / np.sqrt(np.maximum(values, 1e-3 * values[:, -1:] + 1e-12))
    white = np.matmul(np.matmul(vectors * scales[:, None], vectors.swapaxes(-1, -2)), white)
    _, skew, fourth = _tails(white)
    found["signed skewness, whitened"] = skew
    found["kurtosis, whitened"] = fourth
    energy = np.sum(white * white, axis=1)
    # Fourth-order blind identification: its eigenvalues are all channels + 2 for Gaussian noise.
    blind = np.linalg.eigvalsh(np.matmul(white * energy[:, None], white.swapaxes(-1, -2)) / LOW_N)
    found["fourth order, whitened"] = np.log(np.maximum(blind, 1))
    found["loudest moments"] = np.log(np.sort(_box(energy, 5, 1), axis=-1)[:, [-1, -20, -60]] + 1e-9)
    found["quietest moments"] = np.log(np.sort(_box(energy, 10, 2), axis=-1)[:, [0, 5]] + 0.1)
    scaled, spread = _standardised(energy)
    found["energy memory"] = np.stack([np.mean(scaled[:, :-lag] * scaled[:, lag:], axis=-1) for lag in LAGS_N], axis=1)
    found["energy spread"] = 2 * np.log(spread)
    found["energy spread by scale"] = np.log(
        np.stack([_box(energy, width_n, 2).std(axis=-1) for width_n in (5, 10, 20, 40, 80)], axis=1) + 1e-9
    )
    products = (white[:, :, None] * white[:, None]).reshape(len(white), -1, LOW_N)
    third = np.matmul(products, white.swapaxes(-1, -2)) / LOW_N
    found["third order, whitened"] = np.log(np.sum(third**2, axis=(1, 2)) + 1e-9)


def _reversal(low: Array, found: dict[str, Array]) -> None:
    for lag in (1, 2, 4, 8, 16):
        step = low[..., lag:] - low[..., :-lag]
        square = step * step
        size = np.mean(square, axis=-1) ** 1.5 + 1e-9
        found[f"signed asymmetry over {lag}"] = np.mean(square * step, axis=-1) / size


def _phases(bands: Complex, found: dict[str, Array]) -> None:
    own = bands[:, :, :_BANDS_N]
    power = bands.real**2 + bands.imag**2
    for first, second, third in TRIPLES:
        product = bands[:, :, first] * bands[:, :, second]
        size = np.mean(power[:, :, first] * power[:, :, second], axis=-1) * np.mean(power[:, :, third], axis=-1)
        shared = np.mean(product * bands[:, :, third].conj(), axis=-1) / np.sqrt(size + 1e-9)
        name = f"bicoherence {first}+{second}"
        found[f"signed real {name}"], found[f"signed imaginary {name}"] = shared.real, shared.imag
        found[name] = np.abs(shared)
    envelope, _ = _standardised(np.sqrt(power[:, :, :_BANDS_N]))
    for slow in (0, 1):
        phase = own[:, :, slow] / np.sqrt(power[:, :, slow].mean(axis=-1, keepdims=True) + 1e-9)
        coupled = np.matmul(envelope[:, :, slow + 1 :], phase[..., None])[..., 0] / LOW_N
        found[f"signed coupling to band {slow}"] = coupled.real
        found[f"coupling to band {slow}"] = np.abs(coupled)
    turn = np.angle(own[..., 1:] * own[..., :-1].conj()) * (RATE / 2 / np.pi)
    weight = power[:, :, :_BANDS_N, 1:]
    weight = weight / (weight.sum(axis=-1, keepdims=True) + 1e-9)
    mean = np.sum(turn * weight, axis=-1)
    found["frequency"] = mean
    found["frequency spread"] = np.log(np.sqrt(np.sum((turn - mean[..., None]) ** 2 * weight, axis=-1)) + 0.05)
    by_band = own.swapaxes(1, 2)
    cross = np.matmul(by_band, by_band.conj().swapaxes(-1, -2)) / LOW_N
    size = np.sqrt(np.einsum("wbcc->wbc", cross).real + 1e-9)
    one, other = np.triu_indices(own.shape[1], 1)
    coherence = (cross / (size[..., :, None] * size[..., None, :]))[:, :, one, other]
    found["spectral coherence"] = np.abs(coherence)
    found["coherence, real"], found["coherence, imaginary"] = coherence.real, coherence.imag
