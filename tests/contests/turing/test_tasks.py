"""Tasks of the Turing test: what is impossible is never believed, and the fit finds what is worth believing."""

import numpy as np
import pytest

from bciarena.contests.turing.tasks import TaskWeights, fit_weights

TIMES_S = np.array([1.0, 2.0, 4.0])


def test_impossible_tasks_get_nothing():
    possible = np.isin(np.arange(1, 8), (1, 3, 7))
    found = TaskWeights().posterior([0.8, 0.1, 0.1], [-40.0, 50.0, 50.0, 50.0], possible, 2.0)
    assert found.sum() == pytest.approx(1)
    assert set(np.flatnonzero(found)) == {0, 2, 6}
    assert found.argmax() == 0


def test_a_missing_response_does_not_rule_a_flicker_out():
    possible = np.isin(np.arange(1, 8), (5, 7))
    found = TaskWeights(lapse=0.1).posterior([1 / 3, 1 / 3, 1 / 3], [-500.0] * 4, possible, 2.0)
    assert found[4] == pytest.approx(0.1 / 1.1)


def rehearsed(rng, trials):
    """Flicker ratios that sink without a flicker by 20 log t + 15, and stay 20 above that with one."""
    truth = rng.integers(7, size=trials)
    motor = np.full((trials, 3, 3), 1 / 3)
    for place, k in ((0, 0), (1, 1), (6, 2)):
        motor[truth == place] = 0.2
        motor[truth == place, :, k] = 0.6
    sunk = -15 - 20 * np.log(TIMES_S)
    flicker = sunk[None, :, None] + rng.standard_normal((trials, 3, 4))
    for i in np.flatnonzero((truth >= 2) & (truth < 6)):
        flicker[i, :, truth[i] - 2] += 20
    return motor, flicker, np.ones((trials, 7), bool), truth


def test_the_fit_finds_where_flickers_part_from_none():
    rng = np.random.default_rng(0)
    motor, flicker, possible, truth = rehearsed(rng, 300)
    weights = fit_weights(motor, flicker, possible, truth, TIMES_S)
    motor, flicker, possible, truth = rehearsed(rng, 300)
    allowed = np.broadcast_to(possible[:, None], (300, 3, 7))
    used_s = np.broadcast_to(TIMES_S, (300, 3))
    right = weights.posterior(motor, flicker, allowed, used_s).argmax(axis=-1) == truth[:, None]
    unfitted = TaskWeights(1, 1, 0.5, 0, 0, 1e-4)
    before = unfitted.posterior(motor, flicker, allowed, used_s).argmax(axis=-1) == truth[:, None]
    assert right.mean() > 0.97
    assert before.mean() < 0.9
