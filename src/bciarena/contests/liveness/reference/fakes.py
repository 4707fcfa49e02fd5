"""Our own fakes: many kinds of generator with random settings, fitted to people's calibration data.

A detector trained on a few generators learns only those generators. These are meant to differ from real EEG in as many
ways as possible: linear models, surrogates, Gaussian processes with all sorts of envelopes, patches from a linear
decoder, spectrograms with new phases, pieces, bands or phases of real stretches put together anew, wandering
oscillators, and blends of them.
"""

from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d, uniform_filter1d
from scipy.signal import butter, sosfiltfilt

from bciarena.contests.liveness.generators import (
    ParametricGenerator,
    ParametricSettings,
    SpectralGenerator,
    SpectralSettings,
)

SRATE = 250
LOW_PASS = butter(8, 45, fs=SRATE, output="sos")


def joined(trials, trim_n=12, fade_n=10):
    """One run (channels, n) from trials: their ends, where filters ring, are cut off, and the rest cross-faded."""
    run = trials[0][:, trim_n:-trim_n]
    fade = np.linspace(0, 1, fade_n)
    for trial in trials[1:]:
        piece = trial[:, trim_n:-trim_n]
        seam = run[:, -fade_n:] * (1 - fade) + piece[:, :fade_n] * fade
        run = np.concatenate([run[:, :-fade_n], seam, piece[:, fade_n:]], axis=1)
    return run


def _sampler(generator, run):
    fitted = generator.fit({1: [run]})
    return lambda n, rng: fitted.sample(1, n / SRATE, rng)


def _autoregression(run, rng):
    settings = ParametricSettings(order=int(rng.integers(5, 31)), ridge=10 ** rng.uniform(-6, -3))
    return _sampler(ParametricGenerator(settings), run)


def _driven(run, rng):
    kind = rng.choice(["student", "resampled"])
    return _sampler(ParametricGenerator(ParametricSettings(order=int(rng.integers(5, 31)), innovations=kind)), run)


def _switching(run, rng):
    settings = ParametricSettings(
        order=int(rng.integers(5, 16)),
        states=int(rng.integers(2, 6)),
        dwell_s=rng.uniform(0.4, 2),
        temperature=0.1,
    )
    return _sampler(ParametricGenerator(settings), run)


def _surrogate(run, rng):
    return _sampler(SpectralGenerator(SpectralSettings(rounds=int(rng.choice([0, 3, 10, 30, 100])))), run)


def _process(run, rng):
    settings = SpectralSettings(
        smoothing_hz=rng.choice([0.25, 0.5, 1, 2]),
        rounds=int(rng.choice([0, 0, 3, 10])),
        temperature=rng.choice([0, 0.1]),
    )
    return _sampler(SpectralGenerator(settings), run)


def _alpha_waxing(run, rng):
    settings = SpectralSettings(
        smoothing_hz=rng.choice([0.25, 0.5, 1]),
        rounds=0,
        envelope=rng.uniform(0.2, 0.8),
        envelope_hz=rng.uniform(0.2, 1.5),
    )
    return _sampler(SpectralGenerator(settings), run)


def _all_waxing(run, rng):
    """A Gaussian process whose bands each have an envelope, common to the channels or not."""
    make = _sampler(SpectralGenerator(SpectralSettings(smoothing_hz=0.5, rounds=0)), run)
    rows = len(run) if rng.random() < 0.5 else 1
    depth, speed_hz = rng.uniform(0.2, 0.7), rng.uniform(0.2, 1.5)
    edges = (0, 4, 8, 13, 20, 30, SRATE)

    def sample(n, rng):
        spectrum = np.fft.rfft(make(n, rng))
        hz = np.fft.rfftfreq(n, 1 / SRATE)
        made = np.zeros((len(run), n))
        for low, high in pairwise(edges):
            noise = np.fft.rfft(rng.standard_normal((rows, n))) * np.exp(-0.5 * (hz / speed_hz) ** 2)
            slow = np.fft.irfft(noise, n)
            envelope = np.exp(depth * slow / slow.std())
            band = np.fft.irfft(spectrum * ((hz >= low) & (hz < high)), n)
            made += band * envelope / np.sqrt(np.mean(envelope**2))
        return made

    return sample


def _patches(run, rng):
    """Overlapping patches from a linear decoder, as a plain autoencoder would make them."""
    length_n, parts_n = int(rng.choice([128, 256, 512])), int(rng.choice([30, 60, 110]))
    firsts = rng.integers(run.shape[1] - length_n, size=120)
    patches = np.stack([run[:, first : first + length_n].ravel() for first in firsts])
    left, sizes, right = np.linalg.svd(patches, full_matrices=False)
    left, sizes, right = left[:, :parts_n], sizes[:parts_n], right[:parts_n]
    window = np.sqrt(np.hanning(length_n + 1)[:length_n])
    from_data = rng.random() < 0.5

    def sample(n, rng):
        made = np.zeros((len(run), n + 2 * length_n))
        for first in range(0, n + length_n, length_n // 2):
            if from_data:
                code = left[rng.integers(len(left), size=parts_n), np.arange(parts_n)]
            else:
                code = rng.standard_normal(parts_n) / np.sqrt(len(patches))
            made[:, first : first + length_n] += (code * sizes @ right).reshape(len(run), length_n) * window
        return made[:, length_n // 2 : length_n // 2 + n]

    return sample


def _spectrogram(run, rng):
    """A real stretch's power over time and frequency, in order or shuffled, with new phases."""
    length_n, shuffled = int(rng.choice([64, 125, 250, 500])), rng.random() < 0.5
    hop_n, window = length_n // 4, np.hanning(length_n)
    advance = np.exp(2j * np.pi * np.arange(length_n // 2 + 1) * hop_n / length_n)

    def sample(n, rng):
        need_n = n + 2 * length_n
        source = run if run.shape[1] > need_n else np.concatenate([run, run[:, ::-1]], axis=1)
        begin = rng.integers(source.shape[1] - need_n)
        source = source[:, begin : begin + need_n]
        firsts = np.arange(0, n + length_n, hop_n)
        taken = rng.choice(firsts, len(firsts)) if shuffled else firsts
        turn = np.exp(2j * np.pi * rng.random(len(advance)))
        made = np.zeros_like(source)
        for first, other in zip(firsts, taken, strict=True):
            spectrum = np.fft.rfft(source[:, other : other + length_n] * window)
            turn = turn * advance * np.exp(1j * rng.normal(0, 0.7, len(advance)))
            spectrum = spectrum * np.exp(-1j * np.angle(spectrum.sum(axis=0))) * turn
            made[:, first : first + length_n] += np.fft.irfft(spectrum, length_n) * window
        return made[:, length_n : length_n + n] * (source.std() / made.std())

    return sample


def _stretch(run, n, rng):
    """``n`` samples of the run from a random place; a run that is too short goes on as its mirror image."""
    source = run
    while source.shape[1] <= n:
        source = np.concatenate([source, source[:, ::-1]], axis=1)
    first = rng.integers(source.shape[1] - n)
    return source[:, first : first + n]


def _spliced(run, rng):
    """Short pieces of the run from random places, cross-faded; or each the best to go on from the last one."""
    piece_n, fade_n, tries = int(rng.choice([30, 60, 125, 200])), 12, int(rng.choice([1, 1, 40]))
    fade = np.linspace(0, 1, fade_n)

    def sample(n, rng):
        made = _stretch(run, piece_n, rng)
        while made.shape[1] < n:
            pieces = [_stretch(run, piece_n, rng) for _ in range(tries)]
            after = min(pieces, key=lambda piece: float(np.sum((piece[:, :fade_n] - made[:, -fade_n:]) ** 2)))
            seam = made[:, -fade_n:] * (1 - fade) + after[:, :fade_n] * fade
            made = np.concatenate([made[:, :-fade_n], seam, after[:, fade_n:]], axis=1)
        return made[:, :n]

    return sample


def _shifted(run, rng):
    """Bands, or mixtures of channels, each from another place of the run: real alone, but not together."""
    by_band = rng.random() < 0.7
    edges = (0, *np.sort(rng.uniform(3, 35, int(rng.integers(1, 6)))), SRATE)
    turn = np.linalg.svd(run, full_matrices=False)[0]

    def sample(n, rng):
        if not by_band:
            parts = [turn[:, [c]] @ (turn[:, [c]].T @ _stretch(run, n, rng)) for c in range(len(run))]
            return np.sum(parts, axis=0)
        hz = np.fft.rfftfreq(n, 1 / SRATE)
        parts = [np.fft.rfft(_stretch(run, n, rng)) * ((hz >= a) & (hz < b)) for a, b in pairwise(edges)]
        return np.fft.irfft(np.sum(parts, axis=0), n)

    return sample


def _jittered(run, rng):
    """A real stretch whose phases are disturbed, the same for all channels or not."""
    size, rows = rng.uniform(0.5, 1.6), len(run) if rng.random() < 0.3 else 1

    def sample(n, rng):
        spectrum = np.fft.rfft(_stretch(run, n, rng))
        return np.fft.irfft(spectrum * np.exp(1j * size * rng.standard_normal((rows, spectrum.shape[1]))), n)

    return sample


def _modulated(run, rng):
    """New noise with the run's cross-spectrum under the envelopes of a real stretch, in a few bands."""
    make = _sampler(SpectralGenerator(SpectralSettings(smoothing_hz=0.5, rounds=0)), run)
    edges = (0, *np.sort(rng.uniform(3, 35, int(rng.integers(0, 5)))), SRATE)
    width_n = int(rng.choice([25, 60, 125, 250]))

    def sample(n, rng):
        spectrum, real = np.fft.rfft(make(n, rng)), np.fft.rfft(_stretch(run, n, rng))
        hz = np.fft.rfftfreq(n, 1 / SRATE)
        made = np.zeros((len(run), n))
        for low, high in pairwise(edges):
            band = (hz >= low) & (hz < high)
            power = np.mean(np.fft.irfft(real * band, n) ** 2, axis=0)
            slow = np.sqrt(uniform_filter1d(power, width_n) + 1e-9)
            made += np.fft.irfft(spectrum * band, n) * slow / np.sqrt(np.mean(slow**2))
        return made

    return sample


def _oscillators(run, rng):
    """Oscillators with wandering frequency and size under the run's spectrum, and a little noise."""
    make = _sampler(SpectralGenerator(SpectralSettings(smoothing_hz=1, rounds=0)), run)
    count, wander, depth, noise = (
        int(rng.integers(3, 15)),
        rng.uniform(0.2, 1.5),
        rng.uniform(0, 0.8),
        rng.uniform(0.2, 0.7),
    )
    power = np.mean(np.abs(np.fft.rfft(run)) ** 2, axis=0)
    hz = np.fft.rfftfreq(run.shape[1], 1 / SRATE)
    power = power * ((hz > 1) & (hz < 40))

    def sample(n, rng):
        time = np.arange(n) / SRATE
        chosen = rng.choice(len(hz), count, p=power / power.sum())
        waves = np.zeros((count, n))
        for row, centre in enumerate(hz[chosen]):
            slow = gaussian_filter1d(rng.standard_normal((2, n)), SRATE / 2, axis=1)
            slow /= slow.std(axis=1, keepdims=True) + 1e-9
            angle = 2 * np.pi * (centre * time + wander * np.cumsum(slow[0]) / SRATE) + rng.uniform(0, 7)
            waves[row] = np.sin(angle) * np.exp(depth * slow[1])
        maps = _stretch(run, count, rng)  # shapes that the run's channels have taken
        mixed = maps @ waves
        mixed *= run.std(axis=1, keepdims=True) / (mixed.std(axis=1, keepdims=True) + 1e-9)
        return np.sqrt(1 - noise**2) * mixed + noise * make(n, rng)

    return sample


def _blend(run, rng):
    """Two other kinds at once, or one passing over into the other."""
    first, second = (KINDS[name](run, rng) for name in rng.choice(_PLAIN, 2, replace=False))
    at_once = rng.random() < 0.5

    def sample(n, rng):
        share = rng.uniform(0.2, 0.8)
        if at_once:
            return np.sqrt(share) * first(n, rng) + np.sqrt(1 - share) * second(n, rng)
        over = 1 / (1 + np.exp(-(np.arange(n) - share * n) / 20))
        return first(n, rng) * over + second(n, rng) * (1 - over)

    return sample


KINDS = {
    "autoregression": _autoregression,
    "driven": _driven,
    "switching": _switching,
    "surrogate": _surrogate,
    "process": _process,
    "alpha waxing": _alpha_waxing,
    "all waxing": _all_waxing,
    "patches": _patches,
    "spectrogram": _spectrogram,
    "spliced": _spliced,
    "shifted": _shifted,
    "jittered": _jittered,
    "modulated": _modulated,
    "oscillators": _oscillators,
    "blend": _blend,
}
_PLAIN = [name for name in KINDS if name not in ("blend", "switching", "all waxing")]


def make(run, kind, count, n, rng):
    """``count`` fakes of one kind with one draw of its settings, (count, channels, n)."""
    sample = KINDS[kind](run, rng)
    return np.stack([finished(sample(n + 2 * 60, rng))[:, 60:-60] for _ in range(count)])


def finished(signal):
    """As the contest's trials are: nothing above 45 Hz, no offset."""
    signal = sosfiltfilt(LOW_PASS, signal)
    return signal - signal.mean(axis=1, keepdims=True)
