"""Calibration, block priors and stopping, against brute force and hand-made cases."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import binom

from bciarena.decoders.evidence import BlockBalance, BlockState, LogPool, softmax
from bciarena.decoders.stopping import (
    Itr,
    Points,
    StoppingPolicy,
    Target,
    Weighted,
    fit_expected,
    fit_policy,
    itr_bits_per_min,
)
from bciarena.errors import BadInput

TIMES = np.arange(1, 21) * 0.2


def walk(trials=300, classes=3, drift=0.5, seed=0):
    """Log-likelihoods of a Gaussian random walk: the exact posterior is known."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, trials)
    steps = rng.standard_normal((trials, len(TIMES), classes))
    steps[np.arange(trials), :, truth] += drift
    return drift * np.cumsum(steps, axis=1), truth


def test_pool_finds_back_the_exact_calibration():
    scores, truth = walk(4000)
    pool = LogPool(knots=2, pull=0.1).fit(scores * 7.0, truth, TIMES)
    exact = softmax(scores)
    assert np.abs(pool.posteriors(scores * 7.0, TIMES) - exact).mean() < 0.02


def test_pool_prefers_the_expert_that_knows_and_drops_noise():
    scores, truth = walk(600)
    noise = np.random.default_rng(1).standard_normal(scores.shape)
    pool = LogPool().fit(np.stack([scores, noise]), truth, TIMES)
    weight = pool.weights_.mean(axis=1)
    assert weight[0] > 5 * weight[1]


def test_pool_at_one_time_equals_all_times_and_survives_json():
    scores, truth = walk(100)
    pool = LogPool().fit(np.stack([scores, scores**2]), truth, TIMES)
    again = LogPool.from_dict(json.loads(json.dumps(pool.to_dict())))
    everything = pool.posteriors(np.stack([scores, scores**2]), TIMES)
    one = again.posterior(np.stack([scores, scores**2])[:, 5, 7], TIMES[7])
    np.testing.assert_allclose(one, everything[5, 7], atol=1e-12)
    np.testing.assert_allclose(everything.sum(-1), 1)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda s, y: (s[:, :, :, 0], y), "shape"),
        (lambda s, y: (s * np.nan, y), "NaN"),
        (lambda s, y: (s, y + 5), "class indices"),
        (lambda s, y: (s * 0, y), "same score"),
    ],
)
def test_pool_refuses_bad_input(spoil, message):
    scores, truth = walk(20)
    bad, labels = spoil(scores[None], truth)
    with pytest.raises(BadInput, match=message):
        LogPool().fit(bad, labels, TIMES)


def brute_prior(likelihoods, n, classes):
    """Prior of the next trial by listing every order of a balanced block."""
    seen = len(likelihoods)
    total = np.zeros(classes)
    for order in set(itertools.permutations([k for k in range(classes) for _ in range(n)])):
        total[order[seen]] += math.prod(likelihoods[i][order[i]] for i in range(seen))
    return total / total.sum()


def test_block_balance_equals_listing_every_order():
    rng = np.random.default_rng(3)
    given = rng.dirichlet(np.ones(3), 5)
    balance = BlockBalance(3, [2], trust=1.0)
    for seen in range(5):
        np.testing.assert_allclose(balance.prior(), brute_prior(given[:seen], 2, 3), atol=1e-5)
        balance.update(given[seen])


def test_block_balance_with_sure_trials_knows_the_last_one_and_starts_anew():
    balance = BlockBalance(3, [2, 3], trust=0.99)
    for k in (0, 1, 2, 0, 1):
        balance.update(np.eye(3)[k])
    assert balance.prior().argmax() == 2
    for k in (2, 0, 0, 0, 0, 0):  # now no balanced block is possible: back to equal classes
        balance.update(np.eye(3)[k])
    np.testing.assert_allclose(balance.prior(), 1 / 3, atol=1e-3)
    balance.restart()
    np.testing.assert_allclose(balance.prior(), 1 / 3)


def test_block_state_adds_up():
    state = BlockState([0.9, 0.1])
    for _ in range(3):
        state.update([0.3, 0.7])
    odds = 9 * (3 / 7) ** 3
    np.testing.assert_allclose(state.posterior(), [odds / (1 + odds), 1 / (1 + odds)])


def test_objectives_by_hand():
    truth, answer, length = np.array([0, 1, 2, 0]), np.array([0, 1, 2, -1]), np.full(4, 1.0)
    want = 60 * (math.log2(3) + 0.75 * math.log2(0.75) + 0.25 * math.log2(0.25 / 2)) / (7 / 4 + 0.5)
    assert Itr(3, rest_s=0.5)(truth, answer, length) == pytest.approx(want)
    assert itr_bits_per_min(0.3, 3, 1.0) == 0
    assert itr_bits_per_min(1.0, 4, 2.0) == pytest.approx(60)
    real = Itr(2, floor_s=3.0, view=(0, 0, 1, 1))
    assert real(np.array([0, 3]), np.array([1, 2]), np.array([0.5, 3.5])) == pytest.approx(60 / 3.25)
    both = Weighted(((0.9, real), (0.1, Itr(4, floor_s=3.0))))
    assert both(np.array([0, 3]), np.array([1, 2]), np.array([0.5, 3.5])) == pytest.approx(0.9 * 60 / 3.25)
    idle = Itr(40, max_fpr=0.05)
    assert idle(np.array([3, -1]), np.array([3, 7]), np.ones(2)) == -1.0
    assert Points(((100, 50), (0, 100)))(np.array([0, 1, 0]), np.array([1, 1, -1]), np.ones(3)) == 50
    passed = binom.sf(15, 20, 20.5 / 21)
    assert Target()(np.zeros(20, int), np.zeros(20, int), np.full(20, 2.0)) == pytest.approx(passed * 100 * 20.5 / 21)


def test_decide_and_play_agree():
    scores, _ = walk(50)
    post = softmax(scores)
    policy = StoppingPolicy(0.6, 3.0, 0.9, 0.6)
    answers, length = policy.play(post, TIMES)
    for i in range(50):
        for t, p in zip(TIMES, post[i], strict=True):
            said = policy.decide(p, t)
            if said is not None:
                assert (said, t) == (answers[i], length[i])
                break


def test_fitted_policy_beats_every_fixed_time_on_new_trials():
    objective = Itr(3, rest_s=0.5)
    scores, truth = walk(400, seed=1)
    policy = fit_policy(softmax(scores), truth, TIMES, objective, group=np.arange(400) // 50)
    fresh, labels = walk(4000, seed=2)
    post = softmax(fresh)
    fixed = max(objective(labels, post[:, i].argmax(-1), np.full(4000, t)) for i, t in enumerate(TIMES))
    assert objective(labels, *policy.play(post, TIMES)) > fixed
    expected = fit_expected(softmax(scores), TIMES, objective, group=np.arange(400) // 50)
    assert objective(labels, *expected.play(post, TIMES)) > fixed
    assert StoppingPolicy.from_dict(json.loads(json.dumps(policy.to_dict()))) == policy


def test_without_time_in_the_score_the_policy_waits_to_the_end():
    scores, truth = walk(300)
    table = ((1, 0.5, 0), (0.5, 1, 0), (0, 0, 1))
    policy = fit_policy(softmax(scores), truth, TIMES, Points(table), gain=table, group=np.arange(300) // 30)
    _, length = policy.play(softmax(scores), TIMES)
    assert length.mean() > 3.0


def test_floor_makes_early_answers_worthless():
    scores, truth = walk(300, drift=0.7)
    groups = np.arange(300) // 30
    free = fit_policy(softmax(scores), truth, TIMES, Itr(3), group=groups)
    held = fit_policy(softmax(scores), truth, TIMES, Itr(3, floor_s=3.0), group=groups)
    early, late = (policy.play(softmax(scores), TIMES)[1] for policy in (free, held))
    assert late.mean() > 1.5 * early.mean()


def test_expected_points_choose_the_safe_answer():
    gain = ((1.0, 0.5, 0.5), (0.5, 1.0, 0.0), (0.5, 0.0, 1.0))
    policy = StoppingPolicy(1.0, 1.0, 2.0, 2.0, gain=gain)
    assert policy.decide([0.3, 0.35, 0.35], 1.0) == 0
    assert policy.decide([0.3, 0.35, 0.35], 0.9) is None


def test_idle_is_never_answered_and_false_alarms_are_held():
    rng = np.random.default_rng(5)
    scores, truth = walk(400, classes=4, drift=0.6, seed=4)
    scores = np.concatenate([np.zeros((400, len(TIMES), 1)), scores], axis=2)  # class 0: idle
    quiet = np.cumsum(rng.standard_normal((200, len(TIMES), 5)) - 0.3, axis=1) * 0.6
    quiet[:, :, 0] = 0
    post = softmax(np.concatenate([scores, quiet]))
    labels = np.concatenate([truth + 1, np.full(200, -1)])
    policy = fit_policy(post, labels, TIMES, Itr(4, max_fpr=0.05), forced=False, idle=0)
    answers, _ = policy.play(post, TIMES)
    assert not policy.forced
    assert (answers != 0).all()
    assert np.mean(answers[400:] >= 0) <= 0.05
    assert np.mean(answers[:400] == labels[:400]) > 0.5


def test_fit_policy_refuses_bad_input():
    with pytest.raises(BadInput, match="shape"):
        fit_policy(np.ones((3, 2, 2)), [0, 1], [1.0, 2.0], Itr(2))
    with pytest.raises(BadInput, match="NaN"):
        fit_policy(np.full((2, 2, 2), np.nan), [0, 1], [1.0, 2.0], Itr(2))


def test_softmax_matches_scipy():
    x = np.random.default_rng(0).standard_normal((4, 5)) * 100
    np.testing.assert_allclose(np.log(softmax(x) + 1e-300), log_softmax(x, axis=-1), atol=1e-9)
