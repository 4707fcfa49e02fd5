"""Intervals, tests and groups: what they must be by construction. Coverage by simulation is in test_coverage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta

import bciarena
from bciarena.contests import RULEBOOKS, rulebook
from bciarena.contests.trial import Trial
from bciarena.report.choosing import block_error, luck_of
from bciarena.report.inversion import _made
from bciarena.report.ranking import places, smallest_p
from bciarena.report.statistics import UNMEASURED_SD, WITHIN, bias_of, compare, intervals, trials_from
from bciarena.report.texts import WORDS
from bciarena.report.units import units_of
from bciarena.words import read_words
from tests.report.made_up import as_score, made_up


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
@pytest.mark.parametrize("shape", [(3, 2, 20), (1, 4, 20), (4, 1, 30), (1, 1, 40)])
def test_weights_of_one_give_the_runs_own_numbers(book, shape):
    score = as_score(book, made_up(book, *shape, 0.8, 1.2, np.random.default_rng(1)))
    units = units_of(book, trials_from(score))
    for found in (units.rates(np.ones((1, units.sizes.size))), units.replayed(np.arange(len(units.trials))[None])):
        assert found["score"][0] == pytest.approx(score["score"])
        for name, value in score["metrics"].items():
            assert found[name][0] == pytest.approx(value), name


@pytest.mark.parametrize("name", ["imagery", "speller", "liveness", "rehab", "turing"])
def test_two_blocks_that_agree_by_luck_are_not_certainty(name):
    book = rulebook(name)
    block = made_up(book, 1, 1, 30, 0.85, 3.2, np.random.default_rng(4))
    twice = [*block, *(replace(t, block=2) for t in block)]
    twice += [replace(t, subject=2) for t in twice]
    found = intervals(as_score(book, twice))["score"]
    assert found.unit == "blocks within subjects"
    assert found.high - found.low > 0.1 * found.value > 0


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_no_interval_is_empty_or_leaves_what_is_possible(book, p):
    score = as_score(book, made_up(book, 3, 2, 24, p, 3.2, np.random.default_rng(5)))
    found = intervals(score)
    for name in ("score", *(book.scoring.shares & found.keys())):
        one = found[name]
        assert one.low <= one.value <= one.high, name
        assert one.new_low <= one.low <= one.high <= one.new_high, name
        assert one.high > one.low or (name == "score" and p == 0.0), name
        if name in book.scoring.shares:
            assert 0 <= one.new_low <= one.new_high <= 1


def test_a_share_without_block_effects_gets_the_exact_binomial_interval():
    """24 blocks of one person: no block effect is assumed, and a flawless run has Clopper and Pearson's lower end."""
    book = rulebook("rehab")
    trials = [Trial(1, b, t, "1", "1", True, 500, "in_time", book.rate) for b in range(1, 25) for t in range(1, 3)]
    found = intervals(as_score(book, trials))["accuracy"]
    assert found.high == 1.0
    assert found.low == pytest.approx(beta.ppf(0.025, 48, 1), abs=0.01)


def test_points_stay_below_the_most_there_is():
    book = rulebook("rehab")
    found = intervals(as_score(book, made_up(book, 1, 3, 20, 0.97, 1.0, np.random.default_rng(3))))["score"]
    assert found.high <= 3 * 20 * 100


def test_p_and_interval_never_disagree():
    rng = np.random.default_rng(11)
    for name in ("imagery", "speller", "rehab"):
        book = rulebook(name)
        for _ in range(12):
            one, two = (as_score(book, made_up(book, 2, 3, 24, q, 1.5, rng, 0.05)) for q in (0.8, rng.uniform(0.7, 1)))
            found = compare(one, two, draws=300)
            assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


def test_a_run_is_not_distinguishable_from_itself():
    book = rulebook("imagery")
    score = as_score(book, made_up(book, 2, 3, 30, 0.7, 1.0, np.random.default_rng(0)))
    difference = compare(score, score)
    assert (difference.value, difference.p) == (0.0, 1.0)
    assert (difference.low, difference.high) == (None, None)  # an interval from 0 to 0 would be a promise
    assert not difference.distinguishable


def test_two_blocks_are_too_few_to_compare():
    book = rulebook("imagery")
    one, two = (as_score(book, made_up(book, 1, 2, 30, p, 1.0, np.random.default_rng(0))) for p in (0.4, 0.9))
    assert compare(one, two).p is None


def test_nothing_is_said_where_nothing_can_be_said():
    nothing = {"challenge": "imagery/1", "score": 0, "metrics": {}, "trials": []}
    assert intervals(nothing)["score"].unit == "nothing"
    assert bias_of(rulebook("imagery"), []) is None


def test_a_void_run_has_no_interval():
    """Its answers were worth something, its score is 0: they say nothing about the score of another such run."""
    score = as_score(rulebook("imagery"), made_up(rulebook("imagery"), 2, 3, 20, 0.9, 1.2, np.random.default_rng(1)))
    found = intervals(score | {"verdict": "over_budget", "score": 0.0})
    assert found["score"][1:] == (None, None, "nothing", None, None)
    assert found["accuracy"].low < found["accuracy"].value


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_names_what_is_assumed_of_few_blocks(language):
    for assumed in (UNMEASURED_SD, WITHIN):
        assert f" {assumed:g}" in WORDS[language]["means_trials"]
    site = read_words(Path(bciarena.__file__).parent / "service")[language]["site"]
    assert f"{UNMEASURED_SD:g}" in site["board.explained_few"]


def test_few_trials_raise_an_information_rate():
    """Thirty trials at .7: the expected excess over the rate of accuracy .7 is some percent of it."""
    book = rulebook("imagery")
    trials = [
        Trial(1, b, t, "201", "201" if t <= 21 else "202", t <= 21, 250, "in_time", 250)
        for b in (1, 2, 3)
        for t in range(1, 31)
    ]
    found = bias_of(book, trials)
    assert 0.02 < found.excess / book.score(trials).score < 0.12
    assert 0.1 < found.guess < 1.5


def many(rng, teams, blocks, better=0.0):
    """Imagery sums of equal teams on blocks that differ, the first one better; shape (teams, blocks)."""
    ease = 0.7 + 0.08 * rng.standard_normal(blocks)
    share = np.clip(ease[None] + better * (np.arange(teams) == 0)[:, None], 0, 1)
    return {
        "trials": np.full((teams, blocks), 30),
        "correct": rng.binomial(30, share + np.zeros((teams, blocks))),
        "length_n": 30 * 300 + rng.integers(-600, 600, (teams, blocks)),
    }


def placed(sums, subject):
    book = rulebook("imagery")
    scores = book.scoring.rates(book, sums, np.ones(sums["trials"].shape), subject)["score"]
    order = np.argsort(-scores)
    return places(book, {name: column[order] for name, column in sums.items()}, subject), order


@pytest.mark.parametrize(("teams", "blocks"), [(2, 8), (5, 6), (20, 4)])
def test_equal_teams_are_rarely_split_anywhere(teams, blocks):
    rng, subject = np.random.default_rng(2), np.arange(blocks) // 2
    split = [len({place.first for place in placed(many(rng, teams, blocks), subject)[0]}) > 1 for _ in range(25)]
    assert np.sum(split) <= 5  # level .05: more than five of 25 have a chance of 1 in 1000


def test_a_better_team_stands_alone():
    rng, subject = np.random.default_rng(3), np.arange(12) // 2
    alone = []
    for _ in range(10):
        found, order = placed(many(rng, 6, 12, 0.25), subject)
        alone.append(order[0] == 0 and found[0] == (1, 1, None, True))
    assert np.mean(alone) >= 0.9


def test_too_few_blocks_to_test():
    rng = np.random.default_rng(4)
    assert smallest_p(2, 5) == pytest.approx(0.0625)
    found, _ = placed(many(rng, 2, 5, 0.3), np.arange(5))
    assert [(place.first, place.last, place.tested) for place in found] == [(1, 2, False)] * 2
    found, _ = placed(many(rng, 2, 6, 0.3), np.arange(6))
    assert all(place.tested for place in found)


def test_a_team_above_the_false_alarm_limit_does_not_share_the_first_rank():
    """What is ranked is what is tested: its blocks look fine, its score is 0."""
    book, teams, blocks = rulebook("speller"), 5, 9
    rng = np.random.default_rng(5)
    sums = {
        "flicker": np.full((teams, blocks), 42),
        "correct": rng.binomial(42, 0.9, (teams, blocks)),
        "length_n": np.full((teams, blocks), 42 * 300),
        "still": np.full((teams, blocks), 18),
        "alarms": np.array([[0] * blocks] * 4 + [[6] * blocks]),
    }
    subject = np.arange(blocks) // 3
    scores = book.scoring.rates(book, sums, np.ones((teams, blocks)), subject)["score"]
    order = np.argsort(-scores)
    assert scores[4] == 0
    ends = np.stack([0.8 * scores, 1.2 * scores], axis=1)[order]  # an interval of 0 to 0: far above the limit
    found = places(book, {name: column[order] for name, column in sums.items()}, subject, ends)
    assert found[0].last == 4
    assert found[4][:2] == (5, 5)


def test_far_above_the_limit_is_certain_and_near_it_is_not():
    book = rulebook("speller")
    trials = made_up(book, 3, 3, 40, 0.9, 1.0, np.random.default_rng(6))
    still = [k for k, t in enumerate(trials) if t.status in ("quiet", "false_positive")]

    def with_alarms(share):
        changed = list(trials)
        for place, k in enumerate(still):
            loud = place % 100 < 100 * share
            status = "false_positive" if loud else "quiet"
            changed[k] = replace(trials[k], status=status, correct=not loud, answer="1" if loud else None)
        return intervals(as_score(book, changed))["score"]

    assert with_alarms(0.5).high == pytest.approx(0.0, abs=1.0)
    near = with_alarms(0.12)
    assert near.low == 0
    assert near.high > 100


@pytest.mark.parametrize("name", ["imagery", "speller", "turing"])
def test_runs_made_step_by_step_are_those_made_one_by_one(name):
    """The search for plausible abilities counts only what changes from step to step; runs made whole agree."""
    book, rng = rulebook(name), np.random.default_rng(2)
    units = units_of(book, made_up(book, 2, 2, 10, 0.8, 1.5, rng))
    total, moves = len(units.trials), np.array([-1.0, 0.0, 2.0])
    threshold = rng.standard_normal((5, total))
    good, bad = (
        np.arange(total) + rng.integers(2, size=(5, total)) * total,
        np.tile(np.arange(total) + 2 * total, (5, 1)),
    )
    found = _made(units, good, bad, threshold, moves)
    for at, move in enumerate(moves):
        whole = units.replayed(np.where(threshold < move, good, bad), units.could)
        for rate, column in whole.items():
            assert found[rate].reshape(3, 5)[at] == pytest.approx(column), rate


def test_what_choosing_adds_comes_from_the_spread_of_blocks():
    """A mean of blocks: its standard error is that of a stratified mean, and the best of two adds .56 of it."""
    book = rulebook("imagery")
    sums = {"trials": np.full((1, 6), 30), "correct": np.full((1, 6), 30)}
    sums["length_n"] = np.array([[3000, 4000, 5000, 6000, 4000, 3500]])
    subject = np.array([1, 1, 1, 2, 2, 2])
    rate = book.scoring.rates(book, {n: c.T for n, c in sums.items()}, np.ones((6, 1)), np.array([1]))["score"]
    wanted = np.sqrt(np.var(rate[:3], ddof=1) / 3 + np.var(rate[3:], ddof=1) / 3) / 2
    assert block_error(book, sums, subject) == pytest.approx(wanted)
    assert luck_of(1.0, 2) == pytest.approx(0.564, abs=0.001)
    assert block_error(book, {n: c[:, :2] for n, c in sums.items()}, subject[:2]) is None


def test_a_limit_that_no_block_reached_is_not_out_of_reach():
    """24 blocks, each with 1 false alarm of 12: resampled they stay at .083, but the true rate may be above .10."""
    book = rulebook("speller")
    trials = []
    for place in [(s, b) for s in (1, 2, 3) for b in range(1, 9)]:
        trials += [Trial(*place, t, "5", "5" if t > 1 else "6", t > 1, 300, "in_time", book.rate) for t in range(1, 9)]
        for t in range(9, 21):
            alarm = t == 9
            status = "false_positive" if alarm else "quiet"
            trials.append(Trial(*place, t, "", "1" if alarm else None, not alarm, None, status, book.rate))
    found = intervals(as_score(book, trials))["score"]
    assert found.value > 0
    assert found.low < 0.5 * found.value
