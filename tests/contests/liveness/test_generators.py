"""Fake EEG must have the statistics it copies, and must not be a copy."""

import numpy as np
import pytest
from scipy.signal import butter, csd, lfilter, welch
from scipy.stats import kurtosis

from bciarena.contests.liveness.generators import (
    DeepGenerator,
    DeepSettings,
    ParametricGenerator,
    ParametricSettings,
    SpectralGenerator,
    SpectralSettings,
    deep_available,
    generators_for,
    settings_for,
)
from bciarena.errors import BadInput

CHANNELS_N = 5


def _run(seed: int, alpha: float) -> np.ndarray:
    """40 s of five mixed channels: 1/f-like noise, a 10 Hz rhythm in bursts, skewed blinks in the first."""
    rng = np.random.default_rng(seed)
    length_n = 10000
    slow = lfilter([1], [1, -0.95], rng.standard_normal((CHANNELS_N, length_n)))
    band = lfilter(*butter(2, [9, 11], "band", fs=250), rng.standard_normal((2, length_n)))
    bursts = np.exp(lfilter(*butter(1, 0.5, fs=250), rng.standard_normal(length_n)) * 8)
    mixing = np.random.default_rng(9).standard_normal((CHANNELS_N, 2))
    made = slow + alpha * mixing @ (band * bursts)
    blink = 25 * np.hanning(75)
    for first in rng.integers(0, length_n - 75, size=12):
        made[0, first : first + 75] += blink
    low = lfilter(*butter(4, 45, fs=250), made)
    return low - low.mean(axis=1, keepdims=True)


REAL = {4: [_run(1, 2.0), _run(2, 8.0)], 11: [_run(3, 4.0)]}
GENERATORS = {
    "var": ParametricGenerator(ParametricSettings(order=20)),
    "var-student": ParametricGenerator(ParametricSettings(order=24, innovations="student")),
    "var-states": ParametricGenerator(
        ParametricSettings(order=16, states=3, innovations="resampled", temperature=0.02)
    ),
    "iaaft": SpectralGenerator(SpectralSettings()),
    "iaaft-mixed": SpectralGenerator(SpectralSettings(mixture=0.1, temperature=0.05)),
    "process": SpectralGenerator(SpectralSettings(smoothing_hz=0.5, rounds=5)),
    "process-envelope": SpectralGenerator(SpectralSettings(smoothing_hz=0.5, rounds=0, envelope=0.4)),
}


@pytest.fixture(scope="module", params=list(GENERATORS))
def generator(request):
    return GENERATORS[request.param].fit(REAL)


def _many(generator, subject, run, count=12, length_s=8.0):
    rng = np.random.default_rng(5)
    return [generator.sample(subject, length_s, rng, run=run) for _ in range(count)]


def _decibel(made, real):
    hz, wanted = welch(real, 250, nperseg=250)
    got = np.mean([welch(piece, 250, nperseg=250)[1] for piece in made], axis=0)
    band = (hz >= 2) & (hz <= 40)
    return 10 * np.log10(got[:, band] / wanted[:, band])


@pytest.mark.parametrize(("subject", "run"), [(4, 0), (4, 1), (11, 0)])
def test_spectra_are_those_of_the_run(generator, subject, run):
    off = _decibel(_many(generator, subject, run), REAL[subject][run])
    assert np.sqrt(np.mean(off**2)) < 1.6


def test_cross_spectra_are_those_of_the_run(generator):
    real = REAL[4][1]
    made = _many(generator, 4, 1)
    hz, wanted = csd(real[1], real[2], 250, nperseg=250)
    got = np.mean([csd(piece[1], piece[2], 250, nperseg=250)[1] for piece in made], axis=0)
    peak = (hz >= 9) & (hz <= 11)
    # Complex agreement: size and phase of what two channels share at the rhythm.
    assert np.abs(got[peak] - wanted[peak]).max() < 0.35 * np.abs(wanted[peak]).max()


def test_runs_differ_as_the_real_ones_do(generator):
    open_, closed = (np.concatenate(_many(generator, 4, run), axis=1) for run in (0, 1))
    hz, quiet = welch(open_[1], 250, nperseg=250)
    loud = welch(closed[1], 250, nperseg=250)[1]
    assert loud[hz == 10] / quiet[hz == 10] > 4


def test_a_sample_is_no_copy(generator):
    real = REAL[4][1]
    for made in _many(generator, 4, 1, count=4, length_s=4.0):
        piece = made[0] - made[0].mean()
        strength = np.sqrt(np.convolve(real[0] ** 2, np.ones(piece.size), "valid") * np.sum(piece**2))
        match = np.abs(np.correlate(real[0], piece, "valid")) / strength
        assert match.max() < 0.75


def test_samples_differ_and_repeat(generator):
    def take(seed):
        return generator.sample(4, 3.0, np.random.default_rng(seed))

    assert np.array_equal(take(1), take(1))
    assert not np.allclose(take(1), take(2))


@pytest.mark.parametrize("length_n", [1, 77, 1000, 2001, 12345])
def test_any_length(generator, length_n):
    made = generator.sample(11, length_n / 250, np.random.default_rng(0))
    assert made.shape == (CHANNELS_N, length_n)
    assert np.isfinite(made).all()
    assert np.abs(made).max() < 3 * np.abs(REAL[11][0]).max()


@pytest.mark.parametrize("name", ["iaaft", "process"])
def test_amplitudes_are_those_of_the_run(name):
    generator = GENERATORS[name].fit(REAL)
    made = np.concatenate(_many(generator, 4, 0, length_s=30.0), axis=1)
    real = REAL[4][0]
    places = np.linspace(0.005, 0.995, 200)
    off = np.quantile(made[0], places) - np.quantile(real[0], places)
    assert np.abs(off).mean() < 0.08 * real[0].std()
    assert np.abs(off).max() < 0.35 * real[0].std()
    # Blinks make the first channel's tail heavy; a Gaussian process would have 0 here.
    assert kurtosis(real[0]) > 0.5
    assert kurtosis(made[0]) > 0.5 * kurtosis(real[0])


def test_heavy_tailed_innovations_show():
    student = np.concatenate(_many(GENERATORS["var-student"].fit(REAL), 11, 0), axis=1)
    gauss = np.concatenate(_many(GENERATORS["var"].fit(REAL), 11, 0), axis=1)
    # Differences of order 3 approach the innovations, where the tails are.
    assert kurtosis(np.diff(student, 3), axis=1).mean() > kurtosis(np.diff(gauss, 3), axis=1).mean() + 0.1


def test_the_envelope_waxes_and_wanes():
    steady = GENERATORS["process"].fit(REAL)
    waxing = SpectralGenerator(SpectralSettings(smoothing_hz=0.5, rounds=0, envelope=0.8)).fit(REAL)

    def spread(generator):
        band = butter(4, [8, 13], "band", fs=250, output="sos")
        from scipy.signal import hilbert, sosfiltfilt

        made = np.concatenate(_many(generator, 4, 1), axis=1)
        return np.std(np.log(np.abs(hilbert(sosfiltfilt(band, made[1])))))

    assert spread(waxing) > spread(steady) + 0.1


def test_the_three_sets_differ_in_every_generator():
    sets = [settings_for(split) for split in ("eval_train", "eval_A", "eval_B")]
    for kind in zip(*sets, strict=True):
        assert len(set(kind)) == 3


def test_without_the_deep_one_two_are_left_and_it_is_said():
    generators, note = generators_for("eval_A", deep=False)
    assert list(generators) == ["parametric", "spectral"]
    assert "two of the three" in note


@pytest.mark.parametrize(
    ("real", "message"),
    [
        ({}, "nothing to fit"),
        ({1: []}, "no run"),
        ({1: [np.ones(500)]}, "channels"),
        ({1: [np.random.default_rng(0).standard_normal((5, 100))]}, "are needed"),
        ({1: [np.ones((5, 9000))]}, "flat channel"),
        ({1: [np.full((5, 9000), np.nan)]}, "not finite"),
    ],
)
@pytest.mark.parametrize("kind", [ParametricGenerator, SpectralGenerator])
def test_bad_data_is_refused_in_one_line(kind, real, message):
    with pytest.raises(BadInput, match=message) as caught:
        kind().fit(real)
    assert "\n" not in str(caught.value)


def test_wrong_use_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(BadInput, match="call fit"):
        SpectralGenerator().sample(1, 2.0, rng)
    fitted = GENERATORS["iaaft"].fit(REAL)
    with pytest.raises(BadInput, match="was not fitted"):
        fitted.sample(5, 2.0, rng)
    with pytest.raises(BadInput, match="must be positive"):
        fitted.sample(4, -1.0, rng)
    with pytest.raises(BadInput, match="no run 2"):
        fitted.sample(4, 1.0, rng, run=2)
    with pytest.raises(BadInput, match="out of range"):
        ParametricSettings(order=0)
    with pytest.raises(BadInput, match="lower the order"):
        ParametricGenerator(ParametricSettings(order=200, states=9)).fit(REAL)
    with pytest.raises(BadInput, match="no fakes in the set"):
        settings_for("cali_A")


SMALL = {"width": 8, "train_steps": 40, "batch": 8, "steps": 8}


@pytest.fixture(scope="module")
def deep():
    if not deep_available():
        pytest.skip("PyTorch (extra deep) is not installed")
    return DeepGenerator(DeepSettings(**SMALL)).fit(REAL)


def test_deep_spectra(deep):
    off = _decibel(_many(deep, 4, 1, count=8), REAL[4][1])
    assert np.sqrt(np.mean(off**2)) < 2.5


def test_deep_leaves_no_empty_band_above_its_own(deep):
    """The net works at 125 Hz; without anything above, a look at 65-120 Hz would tell its trials from real ones."""

    def top(eeg):
        hz = np.fft.rfftfreq(eeg.shape[1], 1 / 250)
        power = np.abs(np.fft.rfft(eeg * np.hanning(eeg.shape[1]))) ** 2 / eeg.shape[1]
        return 10 * np.log10(power[:, (hz > 65) & (hz < 120)].mean())

    made = np.mean([top(deep.sample(4, 4.0, np.random.default_rng(k), run=1)) for k in range(8)])
    real = np.mean([top(REAL[4][1][:, k : k + 1000]) for k in range(0, REAL[4][1].shape[1] - 1000, 1000)])
    assert abs(made - real) < 2


def test_deep_makes_no_copies_at_any_length(deep):
    test_a_sample_is_no_copy(deep)
    test_any_length(deep, 77)
    test_samples_differ_and_repeat(deep)


def test_deep_weights_come_from_the_seed(deep):
    again = DeepGenerator(DeepSettings(**SMALL)).fit(REAL)
    other = DeepGenerator(DeepSettings(**SMALL, seed=1)).fit(REAL)
    first, second, third = (g.sample(4, 2.0, np.random.default_rng(3)) for g in (deep, again, other))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_deep_says_what_is_missing_without_torch(monkeypatch):
    monkeypatch.setattr("bciarena.contests.liveness.generators.deep.deep_available", lambda: False)
    with pytest.raises(BadInput, match=r"bciarena\[deep\]"):
        DeepGenerator()
