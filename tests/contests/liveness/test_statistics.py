"""The shape statistics against signals whose shape is known."""

import numpy as np
import pytest
from scipy.stats import kurtosis, skew

from bciarena.contests.liveness.statistics import (
    BANDS,
    LOW_N,
    WINDOW_N,
    _analytic,
    _spectrum,
    statistic_names,
    statistics,
)
from bciarena.errors import BadInput

NAMES = np.array(statistic_names())
T_S = np.arange(WINDOW_N) / 250


def _noise(count=40, seed=0):
    return 10 * np.random.default_rng(seed).standard_normal((count, 5, WINDOW_N))


def _of(windows, name):
    found = statistics(windows)[:, name == NAMES]
    assert found.shape[1], name
    return found


def test_band_signals_have_the_amplitude_of_the_rhythm():
    window = np.zeros((1, 5, WINDOW_N))
    window[:] = 7 * np.sin(2 * np.pi * 10 * T_S)
    envelope = np.abs(_analytic(_spectrum(window)))[0, 0, 2]
    assert BANDS[2] == (8, 13)
    assert np.allclose(envelope[30:-30], 7, rtol=0.1)


def test_moments_are_scipys():
    windows = _noise(3) ** 3
    low = np.fft.irfft(_spectrum(windows), 2 * LOW_N)[..., :LOW_N]
    assert np.allclose(_of(windows, "signed skewness, difference 0"), skew(low, axis=-1))
    fourth = np.log(kurtosis(low, axis=-1) + 3)
    assert np.allclose(_of(windows, "kurtosis, difference 0"), fourth)


def test_noise_envelopes_vary_as_rayleigh_does_and_bursts_vary_more():
    steady = _of(_noise(), "envelope variation").reshape(-1, 5, 6)[:, :, 4].mean()
    assert steady == pytest.approx(np.sqrt(4 / np.pi - 1), abs=0.04)
    bursts = _noise() * (1 + 3 * (np.sin(2 * np.pi * 0.7 * T_S) > 0.5))
    assert _of(bursts, "envelope variation").reshape(-1, 5, 6)[:, :, 4].mean() > steady + 0.15


def test_bands_of_noise_swell_apart_and_those_of_bursts_together():
    bursts = _noise() * np.exp(1.5 * np.sin(2 * np.pi * 0.7 * T_S))
    assert abs(_of(_noise(), "bands together over 25").mean()) < 0.05
    assert _of(bursts, "bands together over 25").mean() > 0.3


def test_gaussian_noise_has_no_fourth_order_after_whitening():
    mixing = np.random.default_rng(3).standard_normal((5, 5))
    values = np.exp(_of(np.einsum("ij,wjn->win", mixing, _noise()), "fourth order, whitened"))
    # Channels + 2 for Gaussian samples, with the spread of 294 samples around it.
    assert values.mean() == pytest.approx(7, abs=0.4)


def test_a_locked_harmonic_shows_as_bicoherence():
    rng = np.random.default_rng(1)
    phase = rng.uniform(0, 2 * np.pi, (30, 1, 1))
    wander = np.cumsum(rng.standard_normal((30, 1, WINDOW_N)), axis=-1) * 0.08
    base = 2 * np.pi * 10 * T_S + phase + wander
    locked = 10 * np.cos(base) + 5 * np.cos(2 * base) + 0.1 * _noise(30)
    free = 10 * np.cos(base) + 5 * np.cos(2 * np.pi * 20 * T_S + 3 * wander[::-1]) + 0.1 * _noise(30)
    assert _of(locked, "bicoherence 2+2").mean() > 0.8
    assert _of(free, "bicoherence 2+2").mean() < 0.6


def test_a_saw_tooth_is_not_symmetric_in_time():
    saw = 10 * ((T_S * 6) % 1) + 0.05 * _noise(4)
    forward = _of(saw, "signed asymmetry over 1")
    assert (np.abs(forward) > 0.5).all()
    assert np.allclose(_of(saw[..., ::-1], "signed asymmetry over 1"), -forward, rtol=0.3)


def test_units_leave_shape_alone():
    shape = ~np.char.startswith(NAMES, "spectral power") & ~np.char.startswith(NAMES, "size")
    one, ten = statistics(_noise(5)), statistics(10 * _noise(5))
    assert np.allclose(one[:, shape], ten[:, shape], atol=0.05)


def test_one_window_is_as_many():
    windows = _noise(4)
    assert np.allclose(statistics(windows)[2], statistics(windows[2:3])[0])


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_flat_windows_stay_finite(value):
    windows = _noise(2)
    windows[0, 3] = value
    windows[1] = value
    assert np.isfinite(statistics(windows)).all()


def test_other_shapes_are_refused():
    with pytest.raises(BadInput, match="735"):
        statistics(np.zeros((1, 5, 750)))
