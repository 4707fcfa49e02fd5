import numpy as np
import pytest

from bciarena.decoders.cca import canonical_correlations, references
from bciarena.decoders.sliding import SlidingFBCCA
from bciarena.errors import BadInput
from tests.decoders.flicker import FREQS_HZ, RATE, background, response


def fed(x, windows=(25, 40), lows=(6.5, 22.0), **more):
    sliding = SlidingFBCCA(FREQS_HZ, RATE, 10, windows, lows, x.shape[1], 3, **more)
    for at in range(0, x.shape[2] - 9, 10):
        sliding.push(x[:, :, at : at + 10])
    return sliding


def test_score_equals_canonical_correlations_of_the_last_window():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 5, 600))
    sliding = fed(x)
    for row, window in enumerate((25, 40)):
        part = x[:, :, 600 - 10 * window :]
        for b, low in enumerate((6.5, 22.0)):
            for k in (0, 17, 39):
                rows = references(FREQS_HZ[k : k + 1], RATE, 10 * window, 3)[0]
                kept = [h for h in range(3) if (h + 1) * FREQS_HZ[k] >= low - 0.5]
                rows = np.concatenate([rows[2 * h : 2 * h + 2] for h in kept])
                # No means are taken off on a stream, its filters did that: a row of ones is left out on purpose.
                q = np.linalg.qr(rows.T)[0]
                qx = np.linalg.qr(part[b].T)[0]
                r = np.linalg.svd(qx.T @ q, compute_uv=False)
                assert sliding.scores()[row, b, k] == pytest.approx((r**8).sum() ** 0.25, rel=1e-4)
    assert canonical_correlations(x[0, :, -250:], q[None][:, -250:]).shape[-1] >= 1


def test_sums_are_the_fourier_sums_of_the_window():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 4, 500))
    sums = fed(x).sums(1)[0]
    t = np.arange(250) / RATE
    for k, h in ((0, 1), (33, 3)):
        expected = x[1, :, 250:] @ np.exp(-2j * np.pi * h * FREQS_HZ[k] * t)
        np.testing.assert_allclose(sums[k, h - 1], expected, atol=1e-8)


def test_only_windows_that_fit_are_answered():
    x = np.random.default_rng(5).standard_normal((2, 4, 500))
    for samples, fitting in ((240, 0), (250, 1), (390, 1), (400, 2)):
        sliding = fed(x[:, :, :samples])
        assert sliding.scores().shape == (fitting, 2, 40)
        assert sliding.sums(0).shape == (fitting, 40, 3, 4)


def test_reset_begins_anew():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 4, 500))
    sliding = fed(x)
    before = sliding.scores()
    sliding.reset()
    for at in range(0, 500, 10):
        sliding.push(x[:, :, at : at + 10])
    np.testing.assert_allclose(sliding.scores(), before, atol=1e-10)


def test_flat_channel_and_mains_do_no_harm():
    rng = np.random.default_rng(3)
    x = np.stack([background(rng, 5, 1000) + 0.8 * response(11.4, 0.3, 1000, 5)] * 2)
    x[:, 2] = 0
    sliding = fed(x, windows=(100,), skip_hz=[(50.0, 1.3)])
    assert sliding.scores()[0].sum(axis=0).argmax() == 17
    assert np.isfinite(fed(np.zeros_like(x), windows=(100,)).scores()).all()


def test_bad_input():
    with pytest.raises(BadInput, match="too short"):
        SlidingFBCCA(FREQS_HZ, RATE, 10, (1,), (6.5,), 4, 5)
    sliding = SlidingFBCCA(FREQS_HZ, RATE, 10, (25,), (6.5,), 4, 5)
    with pytest.raises(BadInput, match="expected a packet"):
        sliding.push(np.zeros((1, 4, 7)))
    with pytest.raises(BadInput, match="must ascend"):
        SlidingFBCCA(FREQS_HZ, RATE, 10, (40, 25), (6.5,), 4, 5)
    with pytest.raises(BadInput, match="no harmonic left"):
        SlidingFBCCA([50.0], RATE, 10, (25,), (6.5,), 4, 1, [(50.0, 1.3)])


def test_a_band_without_a_harmonic_takes_the_highest_below():
    sliding = SlidingFBCCA(FREQS_HZ, RATE, 10, (25,), (6.5, 38.0), 4, 5, [(50.0, 1.3), (60.0, 1.3)])
    assert sliding._in_band[1, 21].tolist() == [False, False, True, False, False]
    assert sliding._in_band.any(axis=2).all()
