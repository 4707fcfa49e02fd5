import numpy as np

from bciarena.decoders.template import HarmonicTemplate
from tests.decoders.flicker import FREQS_HZ, RATE, background, response

HARMONICS_HZ = np.outer(FREQS_HZ, np.arange(1, 4))
USABLE = np.ones((40, 3), bool)


def sums(x):
    t = np.arange(x.shape[1]) / RATE
    return np.einsum("khn,cn->khc", np.exp(-2j * np.pi * HARMONICS_HZ[:, :, None] * t), x)


def trial(rng, k, n, amplitude=0.7):
    # The onset is unknown: every trial starts at a phase of its own.
    return sums(background(rng, 6, n) + response(FREQS_HZ[k], rng.uniform(0, 6.3), n, 6, amplitude))


def heard(rng, usable=USABLE, **more):
    template = HarmonicTemplate(HARMONICS_HZ, usable, 6, **more)
    for _ in range(15):
        template.hear(sums(background(rng, 6, 250)), 250)
    return template


def taught(rng, keys, **more):
    template = heard(rng, **more)
    for k in keys:
        template.learn(k, trial(rng, k, 1000)[k], 1000, 1.0)
    return template


def test_a_few_keys_teach_all_the_others():
    rng = np.random.default_rng(0)
    template = taught(rng, [2, 9, 30, 21, 36, 14])
    hits = sum(template.score(trial(rng, k, 500), 500).argmax() == k for k in (0, 5, 12, 18, 25, 33, 39))
    assert hits >= 6


def test_output_is_in_deviations_of_the_noise():
    rng = np.random.default_rng(1)
    template = taught(rng, [2, 9, 30, 21, 36, 14])
    idle = np.array([template.score(sums(background(rng, 6, 500)), 500) for _ in range(60)])
    # The best of all phases of unit noise: between a Rayleigh mean of 1.25 and a little more for three harmonics.
    assert 0.5 < np.median(idle) < 3
    loud = np.array([template.score(20 * sums(background(rng, 6, 500)), 500) for _ in range(20)])
    assert np.median(loud) < 1.5 * np.median(idle)


def test_several_windows_at_once_are_what_they_are_one_by_one():
    rng = np.random.default_rng(5)
    template = taught(rng, [2, 9, 30, 21])
    windows = np.stack([trial(rng, 7, 250), trial(rng, 7, 500)])
    both = template.score(windows, np.array([250, 500]))
    np.testing.assert_allclose(both, [template.score(windows[0], 250), template.score(windows[1], 500)])


def test_unusable_harmonics_have_no_say():
    rng = np.random.default_rng(2)
    usable = USABLE.copy()
    usable[10, 2] = False
    template = taught(rng, [2, 9, 10, 30, 21], usable=usable)
    z = trial(rng, 4, 500)
    spoilt = z.copy()
    spoilt[10, 2] += 1e6
    # It is seen only by the middle one of forty keys' noise, which moves by one place.
    np.testing.assert_allclose(template.score(spoilt, 500), template.score(z, 500), rtol=0.2)


def test_what_fits_no_other_trial_counts_little():
    rng = np.random.default_rng(4)
    template = taught(rng, [2, 9, 30, 21, 36, 14])
    windows = [(k, trial(rng, k, 500)) for k in (0, 5, 12, 18, 25, 33, 39)]
    before = np.mean([template.score(z, 500)[k] for k, z in windows])
    for k in (6, 17, 28):
        template.learn(k, sums(background(rng, 6, 1000))[k], 1000, 1.0)
    assert np.mean([template.score(z, 500)[k] for k, z in windows]) > 0.9 * before


def test_a_flicker_hardly_becomes_noise():
    rng = np.random.default_rng(6)
    template = taught(rng, [2, 9, 30, 21, 36, 14])
    z = trial(rng, 18, 500)
    before = template.score(z, 500)[18]
    for k in rng.permutation(40):
        template.hear(trial(rng, k, 250), 250)
    template.learn(2, trial(rng, 2, 1000)[2], 1000, 1.0)
    assert template.score(z, 500)[18] > 0.7 * before


def test_a_flat_channel_is_survived():
    rng = np.random.default_rng(3)
    template = HarmonicTemplate(HARMONICS_HZ, USABLE, 6)
    x = background(rng, 6, 1000)
    x[4] = 0
    z = sums(x)
    template.hear(z, 1000)
    template.learn(3, z[3], 1000, 1.0)
    assert np.isfinite(template.score(z, 1000)).all()
