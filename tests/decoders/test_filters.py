import numpy as np
import pytest
from scipy import signal

from bciarena.decoders.filters import FilterBank, band_pass, high_pass, low_pass, notch
from bciarena.errors import BadInput

RATE = 250.0


def bank(channels=3):
    return FilterBank(
        [notch(50, 6, RATE), low_pass(90, RATE)], [high_pass(6.5, RATE), band_pass(14, 40, RATE)], channels
    )


def test_packets_of_any_size_give_what_the_whole_gives():
    x = np.random.default_rng(0).standard_normal((3, 503)) + 5000
    whole = bank().push(x)
    cut = bank()
    parts = [cut.push(x[:, a:b]) for a, b in [(0, 10), (10, 11), (11, 200), (200, 503)]]
    np.testing.assert_allclose(np.concatenate(parts, axis=2), whole, atol=1e-9)


def test_an_hour_of_packets_does_not_drift_from_scipy():
    narrow = band_pass(0.5, 4, RATE)  # poles close to the unit circle: the worst case for a state carried on
    x = np.random.default_rng(2).standard_normal((1, 900_000)) * 50
    packets = FilterBank([], [narrow], 1)
    mine = np.concatenate([packets.push(x[:, at : at + 10]) for at in range(0, x.shape[1], 10)], axis=2)[0]
    np.testing.assert_allclose(mine, signal.sosfilt(narrow, x - x[:, :1]), atol=1e-8)


def test_equals_scipy_applied_section_by_section():
    x = np.random.default_rng(1).standard_normal((3, 400))
    expected = signal.sosfilt(
        high_pass(6.5, RATE), signal.sosfilt(low_pass(90, RATE), signal.sosfilt(notch(50, 6, RATE), x - x[:, :1]))
    )
    np.testing.assert_allclose(bank().push(x)[0], expected, atol=1e-9)


def test_an_offset_of_millivolts_leaves_no_ringing():
    x = np.full((3, 250), 40_000.0)
    assert np.abs(bank().push(x)).max() < 1e-6


def test_a_nan_packet_does_not_stay_in_the_filter():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((3, 1000))
    x[1, 300:320] = np.nan
    x[2, 0] = np.inf
    out = bank().push(x)
    assert np.isfinite(out).all()
    clean = bank().push(np.where(np.isfinite(x), x, 0.0))
    np.testing.assert_allclose(out[:, 0], clean[:, 0], atol=1e-9)
    assert np.abs(out[:, 1, 800:] - clean[:, 1, 800:]).max() < 0.05


def test_reset_forgets():
    b = bank()
    x = np.random.default_rng(3).standard_normal((3, 100))
    first = b.push(x)
    b.reset()
    np.testing.assert_array_equal(b.push(x), first)


def test_response_is_the_gain_of_a_steady_sine():
    b = FilterBank([notch(50, 6, RATE)], [high_pass(6.5, RATE)], 1)
    t = np.arange(5000) / RATE
    out = b.push(np.sin(2 * np.pi * 12 * t)[None])[0, 0, 2500:]
    gain = 2 * np.mean(out * np.exp(-2j * np.pi * 12 * t[2500:])) * 1j
    np.testing.assert_allclose(gain, b.response(np.array([12.0]), RATE)[0, 0], atol=1e-3)


def test_wrong_number_of_channels_is_said():
    with pytest.raises(BadInput, match="3 channels"):
        bank().push(np.zeros((4, 10)))
    with pytest.raises(BadInput, match="at least one"):
        FilterBank([], [], 3)
