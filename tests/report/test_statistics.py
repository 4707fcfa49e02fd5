"""Intervals cover, tests keep their level, and reweighting with ones gives the run's own numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bciarena.contests import RULEBOOKS, rulebook
from bciarena.report.statistics import compare, intervals, paired_permutation, trials_from
from bciarena.report.units import blocks_of, trials_of
from tests.report.made_up import as_score, made_up


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
@pytest.mark.parametrize("shape", [(3, 2, 20), (1, 4, 20), (4, 1, 30), (1, 1, 40)])
def test_weights_of_one_give_the_runs_own_numbers(book, shape):
    score = as_score(book, made_up(book, *shape, 0.8, 1.2, np.random.default_rng(1)))
    for whole in (True, False):
        if not whole and book.name == "turing":
            continue  # a turing score stops in the middle of a block
        units = (blocks_of if whole else trials_of)(book, trials_from(score))
        found = units.rates(np.ones((1, units.block.size)))
        assert found["score"][0] == pytest.approx(score["score"])
        for name, value in score["metrics"].items():
            assert found[name][0] == pytest.approx(value), name


@pytest.mark.parametrize(
    ("name", "subjects", "blocks"),
    [("imagery", 3, 2), ("imagery", 8, 1), ("turing", 2, 6), ("rehab", 3, 2), ("liveness", 1, 8), ("speller", 2, 3)],
)
def test_intervals_cover(name, subjects, blocks):
    """Of 150 made-up runs about 95 % have the true value inside; fewer than 88 % would be a broken interval."""
    book, rng = rulebook(name), np.random.default_rng(7)

    def run():
        return as_score(book, made_up(book, subjects, blocks, 24, 0.85, 1.5, rng, 0.05))

    runs = [run() for _ in range(150)]
    truth = np.mean([run()["score"] for _ in range(300)])
    found = [intervals(one, 300)["score"] for one in runs]
    assert 0.88 <= np.mean([i.low <= truth <= i.high for i in found]) <= 1.0
    spread = np.std([one["score"] for one in runs])
    assert np.median([i.high - i.low for i in found]) < 12 * spread  # covering by being endless is no merit


@pytest.mark.parametrize("name", ["imagery", "speller", "liveness", "rehab"])
def test_two_blocks_that_agree_by_luck_are_not_certainty(name):
    book = rulebook(name)
    block = made_up(book, 1, 1, 30, 0.8, 1.2, np.random.default_rng(4))
    twice = [*block, *(replace(t, block=2) for t in block)]
    twice += [replace(t, subject=2) for t in twice]
    found = intervals(as_score(book, twice))["score"]
    assert found.unit == "blocks within subjects"
    assert found.high - found.low > 0.1 * found.value > 0


@pytest.mark.parametrize(("name", "blocks"), [("imagery", 8), ("imagery", 2), ("liveness", 8), ("speller", 6)])
def test_permutation_keeps_its_level_and_has_power(name, blocks):
    book, rng = rulebook(name), np.random.default_rng(3)

    def run(p):
        return as_score(book, made_up(book, 1, blocks, 24, p, 1.5, rng))

    equal = np.array([compare(run(0.8), run(0.8), draws=199).p for _ in range(150)])
    assert np.mean(equal <= 0.05) <= 0.10  # level .05; with 150 runs .10 is nearly three standard errors above
    better = [compare(run(0.55), run(0.95), draws=199) for _ in range(10)]
    assert np.mean([d.distinguishable and d.value > 0 for d in better]) >= 0.9


def test_signs_of_block_scores():
    assert paired_permutation([1, 2, 3], [1, 2, 3]) == 1.0
    assert paired_permutation([], []) == 1.0
    # six blocks all better: of 64 sign patterns two are as extreme
    assert paired_permutation([2] * 6, [1] * 6) == 2 / 64
    assert paired_permutation([2.0] * 20, [1.0] * 20) < 0.01
    rng = np.random.default_rng(0)
    p = [paired_permutation(rng.standard_normal(8), rng.standard_normal(8)) for _ in range(300)]
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.09


def test_a_run_is_not_distinguishable_from_itself():
    book = rulebook("imagery")
    score = as_score(book, made_up(book, 2, 3, 30, 0.7, 1.0, np.random.default_rng(0)))
    difference = compare(score, score)
    assert (difference.value, difference.p) == (0.0, 1.0)
    assert not difference.distinguishable


def test_nothing_is_said_where_nothing_can_be_said():
    book = rulebook("turing")
    score = as_score(book, made_up(book, 1, 1, 5, 1.0, 1.0, np.random.default_rng(0)))
    assert intervals(score)["score"].low is None
    assert intervals({"challenge": "imagery/1", "score": 0, "metrics": {}, "trials": []})["score"].unit == "nothing"
