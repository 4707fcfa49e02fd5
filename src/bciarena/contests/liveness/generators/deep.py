"""Route (c): a small conditional diffusion net, trained on whitened EEG.

What is linear about a person (spectra, mixing of channels) is measured and removed before training and restored after
sampling; the net only has to learn what is left, the shapes and bursts that make EEG more than coloured noise. So
minutes on a CPU are enough. Needs the extra ``[deep]``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from bciarena.contests.liveness.generators.base import SRATE, Array, Real, checked, chosen
from bciarena.contests.liveness.generators.spectral import SpectralGenerator, SpectralSettings
from bciarena.errors import BadInput

if TYPE_CHECKING:
    from bciarena.contests.liveness.generators.deep_net import Denoiser

RATE = 125
"""The net's own rate: the contest's liveness data have nothing above 45 Hz."""
SMOOTHING_HZ = 1.0
OVER_HZ = (50.0, 60.0)
"""Where noise of the person's spectrum takes over from the net: an empty band above would give its trials away."""
MARGIN_N = 64
"""Samples discarded at both ends of a sampled signal, where the net sees the padding."""


@dataclass(frozen=True)
class DeepSettings:
    """How the diffusion net is trained and sampled.

    Attributes
    ----------
    width : int
        Feature maps of the net's first level.
    train_steps, batch : int
        Training length; 800 steps of 16 windows take about a minute on one core.
    window_s : float
        Length of a training window.
    steps : int
        Noise levels when sampling.
    temperature : float
        Factor on the noise a sample starts from.
    mixture : float
        Share of the power that is Gaussian noise of the same spectrum (0 to 1).
    seed : int
        Decides the weights.
    """

    width: int = 16
    train_steps: int = 800
    batch: int = 16
    window_s: float = 4.096
    steps: int = 16
    temperature: float = 1.0
    mixture: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        counts = (self.width, self.train_steps, self.batch, self.steps)
        if min(counts) < 1 or self.window_s < 1 or self.temperature <= 0 or not 0 <= self.mixture <= 1:
            raise BadInput(f"deep generator: settings out of range: {self}")


@dataclass(frozen=True)
class _Colour:
    """What is linear about a run: amplitude spectrum per channel on a grid, and the mixing of channels."""

    hz: Array
    amplitude: Array
    mixing: Array
    index: int


def deep_available() -> bool:
    """Whether PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None


class DeepGenerator:
    """Conditional diffusion over all subjects and runs.

    Parameters
    ----------
    settings : DeepSettings
    say : callable, optional
        Receives the progress of training; without it a progress bar is shown.
    """

    def __init__(self, settings: DeepSettings | None = None, say: Callable[[str], None] | None = None) -> None:
        if not deep_available():
            raise BadInput("the deep generator needs PyTorch: pip install 'bciarena[deep]'")
        self.settings, self._say = settings or DeepSettings(), say
        self._colours: dict[int, list[_Colour]] = {}
        self._net: Denoiser | None = None
        self._top = SpectralGenerator(SpectralSettings(smoothing_hz=2.0, rounds=0))

    def fit(self, real: Real) -> Self:
        """Train the net, showing progress."""
        from bciarena.contests.liveness.generators import deep_net

        settings = self.settings
        window_n = round(settings.window_s * RATE) // 8 * 8
        runs = checked(real, shortest_s=settings.window_s + 0.1)
        whitened: list[Array] = []
        colours: dict[int, list[_Colour]] = {}
        for subject, arrays in runs.items():
            colours[subject] = []
            for run in arrays:
                slow = _resampled(run, run.shape[1] * RATE // SRATE)
                white, colour = _whitened(slow, len(whitened))
                whitened.append(white)
                colours[subject].append(colour)

        def windows(rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
            people = rng.integers(len(whitened), size=settings.batch)
            firsts = [rng.integers(whitened[p].shape[1] - window_n + 1) for p in people]
            cut = [whitened[p][:, k : k + window_n] for p, k in zip(people, firsts, strict=True)]
            return np.stack(cut), people

        with _shown(settings.train_steps, self._say) as advance:
            self._net = deep_net.train(
                windows,
                channels_n=whitened[0].shape[0],
                people_n=len(whitened),
                width=settings.width,
                steps=settings.train_steps,
                seed=settings.seed,
                advance=advance,
            )
        self._colours = colours
        self._top.fit(real)
        return self

    def sample(self, subject: int, length_s: float, rng: np.random.Generator, run: int | None = None) -> Array:
        """Sample from the net and restore the run's spectra and mixing.

        Returns
        -------
        array (channels, n)
            In the unit of the fitted data.
        """
        from bciarena.contests.liveness.generators import deep_net

        colour, count_n = chosen(self._colours, subject, length_s, run, rng)
        if self._net is None:
            raise BadInput("generator: call fit before sample")
        settings = self.settings
        slow_n = -(-(count_n * RATE // SRATE + 2 * MARGIN_N + 8) // 8) * 8
        shape = (len(colour.mixing), slow_n)
        start = settings.temperature * rng.standard_normal(shape)
        white = deep_net.draw(self._net, start, colour.index, settings.steps)
        if settings.mixture:
            noise = rng.standard_normal(shape)
            white = np.sqrt(1 - settings.mixture) * white + np.sqrt(settings.mixture) * noise
        made = _resampled(_coloured(white, colour), slow_n * SRATE // RATE)
        margin_n = MARGIN_N * SRATE // RATE
        low = made[:, margin_n : margin_n + count_n]
        drawn = next(k for k, one in enumerate(self._colours[subject]) if one is colour)
        return _joined(low, self._top.sample(subject, count_n / SRATE, rng, drawn))


@contextmanager
def _shown(steps: int, say: Callable[[str], None] | None) -> Iterator[Callable[[], object]]:
    """What to call after each training step: it calls ``say`` at every percent, or advances a progress bar."""
    if say is not None:
        done = 0

        def tell() -> None:
            nonlocal done
            done += 1
            if done * 100 // steps > (done - 1) * 100 // steps:
                say(f"training the deep generator, {done * 100 // steps} %")

        yield tell
        return
    from bciarena.bars import progress_bar

    with progress_bar(stays=True) as progress:
        task = progress.add_task("training the deep generator", total=steps)
        yield lambda: progress.advance(task)


def _joined(low: Array, top: Array) -> Array:
    """``low`` below `OVER_HZ`, ``top`` above, their powers crossing over; mirrored at the ends as in `_resampled`."""
    count_n = low.shape[1]
    hz = np.fft.rfftfreq(2 * count_n, 1 / SRATE)
    share = np.clip((hz - OVER_HZ[0]) / (OVER_HZ[1] - OVER_HZ[0]), 0, 1)
    below, above = (np.fft.rfft(np.concatenate([one, one[:, ::-1]], axis=1)) for one in (low, top))
    whole = np.fft.irfft(np.sqrt(1 - share) * below + np.sqrt(share) * above, 2 * count_n)
    return np.ascontiguousarray(whole[:, :count_n])


def _resampled(signal: Array, count_n: int) -> Array:
    """Resample through the Fourier transform, mirrored at the ends so that they do not ring."""
    mirrored = np.concatenate([signal, signal[:, ::-1]], axis=1)
    spectrum = np.fft.rfft(mirrored)
    made = np.fft.irfft(spectrum[:, : count_n + 1], 2 * count_n) * (count_n / signal.shape[1])
    return np.ascontiguousarray(made[:, :count_n])


def _bent(colour: _Colour, count_n: int) -> Array:
    hz = np.fft.rfftfreq(count_n, 1 / RATE)
    return np.stack([np.interp(hz, colour.hz, row) for row in colour.amplitude])


def _whitened(run: Array, index: int) -> tuple[Array, _Colour]:
    """Flatten the spectra of a run (channels, n), then decorrelate its channels."""
    count_n = run.shape[1]
    window = np.hanning(count_n)
    power = np.abs(np.fft.rfft(run * window)) ** 2 / np.sum(window**2)
    power = gaussian_filter1d(power, SMOOTHING_HZ * count_n / RATE, mode="nearest")
    # Keep the empty band above the low-pass from being amplified to the level of the rest.
    power = np.maximum(power, 1e-3 * np.median(power, axis=1, keepdims=True))
    hz = np.arange(power.shape[1]) * (RATE / count_n)
    colour = _Colour(hz, np.sqrt(power), np.eye(len(run)), index)
    mirrored = np.concatenate([run, run[:, ::-1]], axis=1)
    flat = np.fft.irfft(np.fft.rfft(mirrored) / _bent(colour, 2 * count_n), 2 * count_n)[:, :count_n]
    values, vectors = np.linalg.eigh(np.cov(flat))
    values = np.maximum(values, 1e-6 * values.max())
    unmix = vectors / np.sqrt(values) @ vectors.T
    mix = vectors * np.sqrt(values) @ vectors.T
    return unmix @ flat, _Colour(colour.hz, colour.amplitude, mix, index)


def _coloured(white: Array, colour: _Colour) -> Array:
    count_n = white.shape[1]
    return np.fft.irfft(np.fft.rfft(colour.mixing @ white) * _bent(colour, count_n), count_n)
