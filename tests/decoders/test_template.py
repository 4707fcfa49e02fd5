import numpy as np

from bciarena.decoders.template import HarmonicTemplate
from tests.decoders.flicker import FREQS_HZ, RATE, background, response

HARMONICS_HZ = np.outer(FREQS_HZ, np.arange(1, 4))
USABLE = np.ones((40, 3), bool)


def sums(x):
    t = np.arange(x.shape[1]) / RATE
    return np.einsum("khn,cn->khc", np.exp(-2j * np.pi * HARMONICS_HZ[:, :, None] * t), x)


def taught(rng, keys, amplitude=0.7, n=1000):
    template = HarmonicTemplate(3, 6)
    for k in keys:
        # The onset is unknown: every trial starts at a phase of its own.
        z = sums(background(rng, 6, n) + response(FREQS_HZ[k], rng.uniform(0, 6.3), n, 6, amplitude))
        template.learn(z[k], z, np.abs(HARMONICS_HZ - HARMONICS_HZ[k]) >= 0.5, n, 1.0)
    return template


def test_a_few_keys_teach_all_the_others():
    rng = np.random.default_rng(0)
    template = taught(rng, [2, 9, 30, 21, 36, 14])
    hits = 0
    for k in (0, 5, 12, 18, 25, 33, 39):
        x = background(rng, 6, 500) + response(FREQS_HZ[k], rng.uniform(0, 6.3), 500, 6, 0.7)
        hits += int(template.score(sums(x), USABLE, 500).argmax() == k)
    assert hits >= 6


def test_output_is_in_deviations_of_the_noise():
    rng = np.random.default_rng(1)
    template = taught(rng, [2, 9, 30, 21, 36, 14])
    idle = np.array([template.score(sums(background(rng, 6, 500)), USABLE, 500) for _ in range(60)])
    # The best of all phases of unit noise: between a Rayleigh mean of 1.25 and a little more for three harmonics.
    assert 0.5 < np.median(idle) < 3


def test_unusable_harmonics_have_no_say():
    rng = np.random.default_rng(2)
    template = taught(rng, [2, 9, 30, 21])
    z = sums(background(rng, 6, 500))
    spoilt = z.copy()
    spoilt[10, 2] += 1e6
    usable = USABLE.copy()
    usable[10, 2] = False
    np.testing.assert_allclose(template.score(spoilt, usable, 500), template.score(z, usable, 500))


def test_a_flat_channel_is_survived():
    rng = np.random.default_rng(3)
    template = HarmonicTemplate(3, 6)
    x = background(rng, 6, 1000)
    x[4] = 0
    z = sums(x)
    template.learn(z[3], z, USABLE, 1000, 1.0)
    assert np.isfinite(template.score(z, USABLE, 1000)).all()
