import numpy as np
import pytest

from bciarena.decoders.ste import STE, Equalizer
from bciarena.errors import BadInput
from tests.decoders.flicker import FREQS_HZ, RATE, background, response


def autoregressive(rng, n):
    a1 = np.array([[0.6, 0.2, 0.0], [-0.1, 0.5, 0.1], [0.0, 0.2, 0.4]])
    a2 = -0.3 * np.eye(3)
    x = np.zeros((3, n))
    noise = np.array([[1, 0, 0], [0.5, 1, 0], [0.2, 0.1, 2]]) @ rng.standard_normal((3, n))
    for t in range(2, n):
        x[:, t] = a1 @ x[:, t - 1] + a2 @ x[:, t - 2] + noise[:, t]
    return x, a1, a2


def test_finds_the_coefficients_and_whitens():
    x, a1, a2 = autoregressive(np.random.default_rng(0), 20_000)
    eq = Equalizer(order=2).fit(x)
    np.testing.assert_allclose(eq.coefficients_.T, np.concatenate([a1, a2], axis=1), atol=0.05)
    white = eq.transform(x[None])[0]
    np.testing.assert_allclose(white @ white.T / white.shape[1], np.eye(3), atol=1e-3)
    for lag in (1, 2, 3):
        assert np.abs(white[:, lag:] @ white[:, :-lag].T / white.shape[1]).max() < 0.03


def test_equals_least_squares():
    x = np.random.default_rng(1).standard_normal((4, 300)).cumsum(axis=1)
    eq = Equalizer(order=3, ridge=0.0).fit(x)
    past = np.concatenate([x[:, 3 - i : 300 - i] for i in (1, 2, 3)])
    expected = np.linalg.lstsq(past.T, x[:, 3:].T, rcond=None)[0]
    np.testing.assert_allclose(eq.coefficients_, expected, atol=1e-6)


def test_energy_equals_the_projection_written_out():
    rng = np.random.default_rng(2)
    x = background(rng, 4, 600)
    ste = STE(FREQS_HZ[:4], RATE, harmonics=2).fit(x)
    white = ste.equalizer_.transform(x[None, :, :254])[0]
    t = np.arange(250) / RATE
    for k, f in enumerate(FREQS_HZ[:4]):
        y = np.array([g(2 * np.pi * h * f * t) for h in (1, 2) for g in (np.sin, np.cos)])
        y -= y.mean(axis=1, keepdims=True)
        energy = sum(row @ y.T @ np.linalg.inv(y @ y.T) @ y @ row for row in white)
        assert ste.decision_function(x[None, :, :254])[0, k] == pytest.approx((energy - 16) / 2, rel=1e-9)


def test_posterior_finds_keys_and_sums_to_one():
    rng = np.random.default_rng(3)
    ste = STE(FREQS_HZ, RATE).fit(background(rng, 6, 5000))
    rng = np.random.default_rng(3)  # the same mixing of channels
    noise = background(rng, 6, 5000)[:, 1000:1754]
    x = np.stack([noise + response(FREQS_HZ[k], 0, 754, 6, 1.5) for k in (2, 33)])
    p = ste.predict_proba(x)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert ste.predict(x).tolist() == [2, 33]


def test_bad_input():
    with pytest.raises(BadInput, match="too few"):
        Equalizer(4).fit(np.zeros((8, 40)))
    x = np.random.default_rng(4).standard_normal((3, 500))
    x[1] = 0
    eq = Equalizer(4).fit(x)
    assert np.isfinite(eq.transform(x[None])).all()
    with pytest.raises(BadInput, match="3 channels"):
        eq.transform(x[None, :2])
