import numpy as np

from bciarena.decoders.phase_locked import PhaseLockedFlicker, _log_density
from tests.decoders.flicker import RATE, background, response

FREQS_HZ = (15.4, 15.5, 15.6, 15.7)


def trial(rng, target, seconds=5, amplitude=0.6):
    """3 s of background, then the task."""
    n = int(seconds * RATE)
    x = background(rng, 5, 750 + n)
    if target is not None:
        x[:, 750:] += response(FREQS_HZ[target], 0, n, 5, amplitude)
    return x


def play(decoder, x, learn=None):
    decoder.new_block()
    decoder.push(x[:, :750])
    decoder.start(750)
    decoder.push(x[:, 750:])
    out = decoder.evidence()
    if learn is not None:
        decoder.learn(learn)
    decoder.stop()
    return out


def test_tells_flicker_from_none_without_having_learnt():
    rng = np.random.default_rng(0)
    decoder = PhaseLockedFlicker(FREQS_HZ, RATE, 5)
    play(decoder, trial(rng, None))
    assert min(play(decoder, trial(rng, k)).max() for k in range(4)) > 3
    assert max(play(decoder, trial(rng, None)).max() for _ in range(6)) < 3


def test_phase_parts_neighbours_once_learnt():
    rng = np.random.default_rng(1)
    decoder = PhaseLockedFlicker(FREQS_HZ, RATE, 5)
    before = [play(decoder, trial(rng, k, 2.5)).argmax() == k for k in (0, 1, 2, 3) * 3]
    for k in (0, 1, 2, 3, 0, 3):
        play(decoder, trial(rng, k), learn=k)
    after = [play(decoder, trial(rng, k, 2.5)).argmax() == k for k in (0, 1, 2, 3) * 3]
    assert decoder.learnt == 6
    assert sum(after) >= 11
    assert sum(after) >= sum(before)


def test_density_is_the_complex_normal():
    rng = np.random.default_rng(2)
    a = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
    cov, z = a @ a.conj().T, rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
    for row, value in zip(z, _log_density(z, 0, cov), strict=True):
        expected = -np.log(np.linalg.det(cov).real) - (row.conj() @ np.linalg.inv(cov) @ row).real
        np.testing.assert_allclose(value, expected)


def test_says_nothing_too_early_and_survives_flat_or_missing_data():
    decoder = PhaseLockedFlicker(FREQS_HZ, RATE, 5)
    assert (decoder.evidence() == 0).all()
    x = np.zeros((5, 2000))
    x[:, 300:310] = np.nan
    assert np.isfinite(play(decoder, x)).all()
    decoder.new_person()
    decoder.start(0)
    decoder.push(np.ones((5, 10)))
    assert (decoder.evidence() == 0).all()
