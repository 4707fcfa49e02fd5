"""Route (b): surrogates that keep a person's spectra, cross-spectra and amplitude distribution.

Two targets, chosen by ``smoothing_hz``:

- 0: the Fourier transform of a stretch of the real run. One set of random phases for all channels keeps every
  spectrum and cross-spectrum; then amplitudes and spectra are adjusted in turn (Schreiber & Schmitz 2000,
  "Surrogate time series", Physica D 142, multivariate IAAFT).
- above 0: a Gaussian process with the run's smoothed cross-spectral matrix, then the same adjustment with
  smoothed spectra. Its alpha band may wax and wane under a slow random envelope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from bciarena.contests.liveness.generators.base import SRATE, Array, Real, checked, chosen
from bciarena.errors import BadInput

Spectrum = NDArray[np.complex128]
SHORTEST_S = 4.0
GRID_HZ = 0.125


@dataclass(frozen=True)
class SpectralSettings:
    """How a surrogate is made.

    Attributes
    ----------
    smoothing_hz : float
        Resolution of the cross-spectra (0.125 Hz or coarser); 0 copies a stretch's own spectrum.
    rounds : int
        Rounds of amplitude and spectrum adjustment; 0 leaves the amplitudes Gaussian.
    envelope : float
        Depth of the alpha band's random envelope: the standard deviation of its natural logarithm.
    envelope_hz : float
        How fast that envelope moves.
    temperature : float
        Standard deviation of a smooth random gain over frequency (natural logarithm), anew for each sample.
    mixture : float
        Share of the power taken from another run of the same subject (0 to 1).
    """

    smoothing_hz: float = 0.0
    rounds: int = 10
    envelope: float = 0.0
    envelope_hz: float = 0.5
    temperature: float = 0.0
    mixture: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.smoothing_hz, self.rounds, self.envelope, self.temperature)
        if min(numbers) < 0 or self.envelope_hz <= 0 or not 0 <= self.mixture <= 1:
            raise BadInput(f"spectral generator: settings out of range: {self}")


@dataclass(frozen=True)
class _Run:
    """A real run, the one mixed into it, and triangular factors of the cross-spectra every ``GRID_HZ``."""

    source: Array
    other: Array
    factors: Spectrum | None


class SpectralGenerator:
    """Spectrum-matched surrogates per subject and run.

    Parameters
    ----------
    settings : SpectralSettings
    """

    def __init__(self, settings: SpectralSettings | None = None) -> None:
        self.settings = settings or SpectralSettings()
        self._runs: dict[int, list[_Run]] = {}

    def fit(self, real: Real) -> Self:
        """Keep each run, the run its spectrum is mixed with (the subject's next one), and their spectra."""
        runs = checked(real, shortest_s=SHORTEST_S)
        self._runs = {
            subject: [
                _Run(run, other, _factors(run, other, self.settings) if self.settings.smoothing_hz else None)
                for run, other in zip(arrays, arrays[1:] + arrays[:1], strict=True)
            ]
            for subject, arrays in runs.items()
        }
        return self

    def sample(self, subject: int, length_s: float, rng: np.random.Generator, run: int | None = None) -> Array:
        """Make a surrogate.

        Returns
        -------
        array (channels, n)
            In the unit of the fitted data.
        """
        model, count_n = chosen(self._runs, subject, length_s, run, rng)
        if model.factors is None:
            return self._surrogate(model.source, model.other, count_n, rng)
        return self._process(model.source, model.factors, count_n, rng)

    def _surrogate(self, source: Array, other: Array, count_n: int, rng: np.random.Generator) -> Array:
        settings = self.settings
        length_n = max(count_n, int(SHORTEST_S * SRATE))
        target = np.fft.rfft(_stretch(source, length_n, rng))
        if settings.mixture:
            second = np.fft.rfft(_stretch(other, length_n, rng))
            target = np.sqrt(1 - settings.mixture) * target + np.sqrt(settings.mixture) * second
        target *= _gain(target.shape[1], length_n, settings.temperature, rng)
        amplitudes = np.sort(np.fft.irfft(target, length_n), axis=1)
        turn = np.exp(2j * np.pi * rng.random(target.shape[1]))
        turn[0] = 1.0
        made = np.fft.irfft(target * turn, length_n)
        for _ in range(settings.rounds):
            now = np.fft.rfft(_ranked(made, amplitudes))
            # The common rotation that brings the target's phases closest to those the amplitudes require.
            turn = np.sum(now * target.conj(), axis=0)
            turn /= np.maximum(np.abs(turn), 1e-30)
            made = np.fft.irfft(target * turn, length_n)
        if settings.rounds:
            made = _ranked(made, amplitudes)
        return _waxing(made, settings.envelope, settings.envelope_hz, rng)[:, :count_n]

    def _process(self, source: Array, factors: Spectrum, count_n: int, rng: np.random.Generator) -> Array:
        settings = self.settings
        # A period twice as long as what is cut from it, so that the two ends of the cut are independent.
        circle_n = 2 * max(count_n, int(SHORTEST_S * SRATE))
        grid = np.arange(circle_n // 2 + 1) * (SRATE / circle_n / GRID_HZ)
        below = np.minimum(grid.astype(int), len(factors) - 2)
        share = (grid - below)[:, None, None]
        factor = (1 - share) * factors[below] + share * factors[below + 1]
        gain = _gain(len(grid), circle_n, settings.temperature, rng) * np.sqrt(circle_n)
        factor = factor * gain[:, None, None]
        white = rng.standard_normal((2, *factor.shape[:2])) / np.sqrt(2)
        spectrum = np.einsum("fij,fj->if", factor, white[0] + 1j * white[1])
        power = np.sum(np.abs(factor) ** 2, axis=2).T
        made = np.fft.irfft(spectrum, circle_n)
        width_bins = settings.smoothing_hz * circle_n / SRATE
        places = (np.arange(circle_n) + 0.5) / circle_n * source.shape[1]
        amplitudes = np.sort(source, axis=1)[:, places.astype(int)]
        for _ in range(settings.rounds):
            now = np.fft.rfft(_ranked(made, amplitudes))
            seen = gaussian_filter1d(np.abs(now) ** 2, width_bins, mode="nearest")
            made = np.fft.irfft(now * np.sqrt(power / np.maximum(seen, 1e-30)), circle_n)
        if settings.rounds:
            made = _ranked(made, amplitudes)
        return _waxing(made, settings.envelope, settings.envelope_hz, rng)[:, :count_n]


def _stretch(run: Array, length_n: int, rng: np.random.Generator) -> Array:
    """A stretch of ``run`` whose ends match; a run that is too short is continued by its mirror image."""
    if run.shape[1] < length_n:
        repeats = -(-length_n // run.shape[1])
        run = np.concatenate([run[:, :: 1 - 2 * (k % 2)] for k in range(repeats)], axis=1)
    # A step from the end to the beginning would put power at all frequencies: of 50 places take the one
    # where the ends match best, then remove the line through what is left.
    firsts = rng.integers(run.shape[1] - length_n + 1, size=50)
    steps = run[:, firsts + length_n - 1] - run[:, firsts]
    best = int(np.argmin(np.sum(steps**2, axis=0)))
    piece = run[:, firsts[best] : firsts[best] + length_n]
    piece = piece - steps[:, best : best + 1] * np.linspace(-0.5, 0.5, length_n)
    level: Array = piece.mean(axis=1, keepdims=True)
    return piece - level


def _gain(bins: int, length_n: int, temperature: float, rng: np.random.Generator) -> Array:
    """Smooth random gain over frequency, (bins,)."""
    if temperature == 0:
        return np.ones(bins)
    # Knots every 4 Hz: the spectrum is bent, not roughened.
    knots = np.arange(0, SRATE / 2 + 4, 4.0)
    heights = rng.standard_normal(len(knots))
    gain: Array = np.exp(temperature * np.interp(np.arange(bins) * SRATE / length_n, knots, heights))
    return gain


def _factors(run: Array, other: Array, settings: SpectralSettings) -> Spectrum:
    """Triangular factors of the mixed, smoothed cross-spectra, (grid, channels, channels)."""
    cross = _cross_spectrum(run, settings.smoothing_hz)
    if settings.mixture:
        second = _cross_spectrum(other, settings.smoothing_hz)
        cross = (1 - settings.mixture) * cross + settings.mixture * second
    floor = 1e-9 * np.trace(cross, axis1=1, axis2=2).real.max() * np.eye(run.shape[0])
    return np.linalg.cholesky(cross + floor)


def _cross_spectrum(run: Array, smoothing_hz: float) -> Spectrum:
    """Cross-spectral matrices on the grid, power per sample, (grid, channels, channels).

    Welch's mean over windows that overlap by half; their length sets the smoothing, zeros fill the grid.
    """
    grid_n = round(SRATE / GRID_HZ)
    window = np.hanning(min(round(SRATE / smoothing_hz), grid_n, run.shape[1]))
    pieces = np.lib.stride_tricks.sliding_window_view(run, len(window), axis=1)[:, :: len(window) // 2]
    spectra = np.fft.rfft(pieces * window / np.sqrt(np.sum(window**2)), grid_n)
    cross: Spectrum = np.einsum("iwf,jwf->fij", spectra, spectra.conj(), optimize=True) / spectra.shape[1]
    return cross


def _ranked(made: Array, values: Array) -> Array:
    """Give each channel of ``made`` the amplitudes ``values`` (channels, n), sorted, in its own order."""
    ranked = np.empty_like(made)
    np.put_along_axis(ranked, np.argsort(made, axis=1), values, axis=1)
    return ranked


def _waxing(made: Array, depth: float, envelope_hz: float, rng: np.random.Generator) -> Array:
    """Multiply the alpha band (8-13 Hz) of all channels by one slow random envelope of unit power."""
    if depth == 0:
        return made
    length_n = made.shape[1]
    hz = np.fft.rfftfreq(length_n, 1 / SRATE)
    alpha = np.fft.irfft(np.fft.rfft(made) * ((hz >= 8) & (hz <= 13)), length_n)
    noise = np.fft.rfft(rng.standard_normal(length_n))
    slow = np.fft.irfft(noise * np.exp(-0.5 * (hz / envelope_hz) ** 2), length_n)
    envelope = np.exp(depth * slow / slow.std())
    waxed: Array = made - alpha + alpha * envelope / np.sqrt(np.mean(envelope**2))
    return waxed
