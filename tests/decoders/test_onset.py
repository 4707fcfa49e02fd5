import numpy as np
import pytest

from bciarena.decoders.onset import OnsetDecision, OnsetPool, key_posterior
from bciarena.decoders.stopping import StoppingPolicy

SHARES = np.array([0.25, 0.5, 1.0])
POLICY = StoppingPolicy(1.0, 4.0, 0.9, 0.5, forced=False, idle=40)


def scores(key=None, height=0.0, seed=0):
    z = np.random.default_rng(seed).standard_normal((3, 40))
    if key is not None:
        z[:, key] += height * SHARES**0.5
    return z


def test_posterior_is_bayes_rule_written_out():
    pool = OnsetPool(cold_odds=-3.0)
    z = scores(7, 6.0)
    ours, _ = key_posterior(pool.log_odds(z, SHARES, np.nan))
    # Windows of 1, 2 and 4 s: onsets nearest to each, as shares of all.
    stands_for = np.array([0.25, 0.375, 0.5]) / 1.125
    mass = np.zeros(41)
    mass[40] = 1.0
    for w, share in enumerate(SHARES):
        mean = pool.cold_level * share**pool.growth
        deviation = np.sqrt(1 + (pool.cold_spread * mean) ** 2)
        for k in range(40):
            x = z[w, k]
            signal = np.exp(-0.5 * (min(x - mean, 0) / deviation) ** 2) / deviation
            tail = np.exp(-0.5 * pool.knee**2) * np.exp(-pool.tail * (x - pool.knee))
            noise = np.exp(-0.5 * x**2) if x < pool.knee else tail
            mass[k] += np.exp(-3.0) / 40 * stands_for[w] * signal / noise
    np.testing.assert_allclose(ours, mass / mass.sum(), atol=1e-12)


def test_what_is_likely_depends_on_the_person():
    pool = OnsetPool()
    z = scores(7, 6.0)
    weak, strong = (key_posterior(pool.log_odds(z, SHARES, usual))[0] for usual in (12.0, 60.0))
    assert weak[7] > 0.5 > strong[7]


def test_a_flicker_that_the_template_misses_is_still_seen():
    pool = OnsetPool()
    missed, seen = scores(seed=1), scores(7, 14.0)
    assert key_posterior(pool.log_odds(missed, SHARES, 20.0, missed))[0][40] > 0.8
    assert key_posterior(pool.log_odds(missed, SHARES, 20.0, seen))[0][7] > 0.8
    grown = pool.log_odds(missed, SHARES, 20.0, seen, 10**9)
    np.testing.assert_allclose(grown, pool.log_odds(missed, SHARES, 20.0), rtol=1e-9)


def test_noise_is_idle():
    pool = OnsetPool()
    assert min(key_posterior(pool.log_odds(scores(seed=s), SHARES, np.nan))[0][40] for s in range(50)) > 0.9


def test_one_flicker_one_answer_but_a_false_alarm_blocks_no_other_key():
    pool, now = OnsetPool(), 200
    decision = OnsetDecision(POLICY, (25, 50, 100), 0.04, 4, 150)
    odds = pool.log_odds(scores(7, 14.0), SHARES, 20.0)
    assert decision.step(now, odds) == 7
    assert decision.step(now + 2, odds) is None
    neighbour = pool.log_odds(scores(8, 14.0), SHARES, 20.0)
    assert decision.step(now + 20, neighbour) is None
    assert decision.step(now + 30, pool.log_odds(scores(30, 14.0), SHARES, 20.0)) == 30
    assert decision.step(now + 300, odds) == 7
    decision.restart()
    assert decision.step(40, odds[:1]) in (7, None)


def test_plain_numbers_there_and_back():
    pool = OnsetPool().moved(["tail", "knee"], [1.5, 2.5])
    assert OnsetPool.from_dict(pool.to_dict()) == pool
    assert (pool.tail, pool.knee) == (1.5, 2.5)
    with pytest.raises(TypeError):
        OnsetPool.from_dict({"nonsense": 1})
