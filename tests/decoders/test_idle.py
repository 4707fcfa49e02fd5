import numpy as np

from bciarena.decoders.idle import Background


def fresh(prior=(20.0, 50.0), memory=(200.0, 500.0)):
    return Background(np.zeros(1), np.ones(1), np.zeros((1, 6)), np.ones((1, 6)), prior, memory)


def test_every_key_ends_at_zero_mean_and_unit_variance():
    rng = np.random.default_rng(0)
    level, spread = np.array([5, 5, 5, 9, 5, 5.0]), np.array([1, 1, 1, 3, 1, 1.0])
    background = fresh()
    out = np.array([background.standardise(level + spread * rng.standard_normal((1, 6)))[0] for _ in range(6000)])[
        3000:
    ]
    np.testing.assert_allclose(out.mean(axis=0), 0, atol=0.15)
    np.testing.assert_allclose(out.std(axis=0), 1, atol=0.15)


def test_the_common_level_is_learnt_before_single_keys():
    rng = np.random.default_rng(1)
    background = fresh()
    out = np.array([background.standardise(5 + rng.standard_normal((1, 6)))[0] for _ in range(150)])
    assert abs(out[:3].mean()) > 2.5
    assert abs(out[-30:].mean()) < 0.6


def test_a_flickering_key_does_not_become_its_own_background():
    rng = np.random.default_rng(2)
    background = fresh((20.0, 400.0), (800.0, 2000.0))
    for _ in range(3000):
        background.standardise(rng.standard_normal((1, 6)))
    peak = []
    for _ in range(50):
        scores = rng.standard_normal(6)
        scores[3] += 20
        peak.append(background.standardise(scores[None])[0, 3])
    assert peak[-1] > 0.7 * peak[0]


def test_a_new_block_is_met_with_doubt():
    rng = np.random.default_rng(3)
    background = fresh()
    for _ in range(3000):
        background.standardise(0.2 * rng.standard_normal((1, 6)))
    sure = background.standardise(np.full((1, 6), 2.0)).mean()
    background.reopen()
    assert background.standardise(np.full((1, 6), 2.0)).mean() < 0.5 * sure


def test_measuring_moves_nothing():
    rng = np.random.default_rng(5)
    background = fresh()
    for _ in range(200):
        background.standardise(5 + 2 * rng.standard_normal((1, 6)))
    z = 5 + 2 * rng.standard_normal((3, 6))
    first = background.measure(z, 0)
    np.testing.assert_array_equal(background.measure(z, 0), first)
    np.testing.assert_allclose(background.standardise(z[:1]), first[:1])
