"""A block as one decision problem: prices of right answers, and patience within a trial."""

import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.contests.turing import blocks
from bciarena.contests.turing.blocks import BlockBook, Patience, learn_patience, lengths, target, worth
from bciarena.contests.turing.score import target as scored_target

QUICK, SURE = (0.7, 0.5), (0.92, 2.0)  # share right, seconds


@pytest.fixture(scope="module")
def value():
    return worth(*zip(QUICK, SURE, strict=True))


def test_lengths_and_targets_are_the_contests():
    assert np.flatnonzero(lengths()).tolist() == list(range(12, 31))
    assert lengths().sum() == pytest.approx(1)
    assert [target(n) for n in range(1, 31)] == [scored_target(rulebook("turing"), n) for n in range(1, 31)]


def played(way, rng, games=3000):
    scores = []
    for n in rng.choice(len(lengths()), games, p=lengths()):
        right = np.cumsum(rng.random(n) < way[0])
        passed = right >= target(n)
        scores.append(200 * target(n) / ((passed.argmax() + 1) * way[1]) if passed.any() else 0.0)
    return np.mean(scores)


def test_the_value_of_one_way_to_play_is_its_mean_score():
    rng = np.random.default_rng(0)
    for way in (QUICK, SURE):
        alone = worth([way[0]], [way[1]])[0, 0, 0]
        assert alone == pytest.approx(played(way, rng), rel=0.08)


def test_choosing_is_worth_more_than_either_way(value):
    assert value[0, 0, 0] > 1.05 * max(worth([p], [t])[0, 0, 0] for p, t in (QUICK, SURE))


def test_a_right_answer_is_dear_at_the_brink_and_worthless_when_all_is_lost(value):
    book = BlockBook(value)
    fresh = book.price_s()
    for right in (1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1):  # nine of eleven: ten of twelve pass
        book.enter(right, 1.0)
    assert book.price_s() > 1.3 * fresh
    book.restart()
    for _ in range(12):
        book.enter(0.0, 1.0)
    assert book.price_s() == 0
    book.restart()
    for _ in range(24):
        book.enter(1.0, 1.0)
    assert book.price_s() == 0  # every length has passed


def test_what_is_uncertain_is_believed_in_part(value):
    book = BlockBook(value)
    book.enter(0.5, 1.0)
    book.enter(0.5, 1.0)
    assert book.right[:4] == pytest.approx([0.25, 0.5, 0.25, 0])
    assert (book.answers, book.used_s) == (2, 2.0)


def rehearsed(rng, trials):
    """Left hand or idle, half known at once, the other half only at the last moment."""
    truth = rng.choice([0, 6], trials)
    posteriors = np.zeros((trials, 3, 7))
    for i, place in enumerate(truth):
        early = 0.95 if i % 2 else 0.5
        for t, sure in enumerate((early, early, 0.95)):
            told = place if rng.random() < sure else 6 - place
            posteriors[i, t, [told, 6 - told]] = sure, 1 - sure
    return posteriors, truth


def test_patience_waits_where_waiting_pays():
    rng = np.random.default_rng(1)
    patience = learn_patience(*rehearsed(rng, 400), [0.5, 1.0, 3.0])
    posteriors, truth = rehearsed(rng, 400)
    answer, cheap_s = patience.play(posteriors, 1.0)
    assert cheap_s.mean() == pytest.approx(0.5)
    answer, dear_s = patience.play(posteriors, 30.0)
    assert np.mean(answer == truth) > 0.9
    assert dear_s[1::2].mean() < 1.5 < dear_s[::2].mean()
    # One decision after the other is the same, at prices between the rehearsed ones too, and below and above.
    for price in (0.0, 0.3, 5.0, 30.0, 1e4):
        one = [next(t for t in range(3) if patience.decide(told[t], t, price) is not None) for told in posteriors[:40]]
        within = min(max(price, blocks.PRICES_S[0]), blocks.PRICES_S[-1])
        assert np.array(patience.times_s)[one].tolist() == patience.play(posteriors[:40], within)[1].tolist()
    again = Patience.from_dict(patience.to_dict())
    assert np.array_equal(again.value, patience.value)
