"""The sums behind every score: what they must be by construction, whichever the contest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bciarena.contests import RULEBOOKS, rulebook
from bciarena.contests.itr import itr
from bciarena.contests.probe import made_up
from bciarena.contests.scoring import mean_exceeds, mean_over, mean_ratio, pooled, pooled_by, ratio, spread
from bciarena.contests.trial import accuracy, by_block

BOOKS = pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)


@BOOKS
@settings(max_examples=20, deadline=None)
@given(
    weights=st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=3),
    skill=st.sampled_from([0.6, 0.9]),
)
def test_a_weight_is_how_often_a_block_counts(book, weights, skill):
    groups = by_block(made_up(book, skill))
    sums, who = book.scoring.block_sums(book, groups), np.array([subject for subject, _, _ in groups])
    found = book.scoring.rates(book, sums, np.array(weights), who)
    for draw, counts in enumerate(weights):
        again = np.repeat(np.arange(6), counts)
        part = {name: column[:, again] for name, column in sums.items()}
        want = book.scoring.rates(book, part, np.ones((1, again.size), np.int64), who[again])
        for name, value in found.items():
            assert value.shape == (len(weights),)
            assert value[draw] == pytest.approx(want[name][0]), name


@BOOKS
def test_a_row_is_the_score_of_its_own_trials(book):
    trials = made_up(book, 0.9)
    whole = book.score(trials)
    own = book.scoring.own
    rows = [(row, {"subject": row["subject"]}, book.scoring.subject_columns) for row in whole.subjects]
    for row in whole.blocks:
        rows.append((row, {"subject": row["subject"], "block": row["block"]}, book.scoring.block_columns))
    assert [(row["subject"], row["block"]) for row in whole.blocks] == [(s, b) for s in (1, 2, 3) for b in (1, 2)]
    assert [row["subject"] for row in whole.subjects] == [1, 2, 3]
    for row, where, columns in rows:
        part = book.score([t for t in trials if all(getattr(t, key) == value for key, value in where.items())])
        assert row["score"] == (part.score if own == "score" else part.metrics[own])
        assert set(row) == {"score", *where, *columns}
        for name in set(columns) - book.scoring.hidden:
            assert row[name] == part.metrics[name]
    assert not book.scoring.hidden & whole.metrics.keys()


@BOOKS
def test_a_run_without_trials_is_worth_nothing(book):
    found = book.score([])
    assert found.score == 0
    assert not any(found.metrics.values())
    assert (found.blocks, found.subjects, found.trials) == ([], [], [])


@BOOKS
@pytest.mark.parametrize("high", [0.0, 0.5, 1.0])
def test_an_example_has_the_shares_it_was_asked_for(book, high):
    """Of ten trials: so many, all of one length, each with a truth and answers of the vocabulary."""
    asked = dict(zip(book.scoring.knobs, (high / 2, high), strict=False))
    trials = book.scoring.example(book, asked, 300, 10)
    found = book.score(trials)
    for name, share in asked.items():
        assert found.metrics[name] == pytest.approx(round(share * 10) / 10), name
    assert found.metrics["mean_length_s"] == 300 / book.rate
    assert [t.trial for t in trials] == list(range(1, len(trials) + 1))
    assert {(t.subject, t.block) for t in trials} == {(1, 1)}
    for trial in trials:
        assert trial.truth in book.vocabulary or trial.status in ("quiet", "false_positive")
        assert trial.answer is None or trial.answer in book.vocabulary
        if trial.status == "in_time":
            assert trial.correct == (trial.answer == trial.truth)
    assert len({t.truth for t in trials if t.truth}) == min(10, len(book.vocabulary))


@given(hits=st.integers(0, 40), count=st.integers(1, 40))
def test_spread_puts_so_many_as_far_apart_as_they_go(hits, count):
    hits = min(hits, count)
    places = np.flatnonzero(spread(hits / count, count))
    assert len(places) == hits
    gaps = np.diff(places)
    assert not len(gaps) or gaps.max() - gaps.min() <= 1
    assert not hits or places[-1] == count - 1


def test_sums_over_blocks_and_groups():
    column, weights = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 0, 2], [1, 1, 1]])
    assert pooled(column, weights).tolist() == [7, 15]
    assert mean_over(column, weights).tolist() == [7 / 3, 5]
    assert mean_over(column, weights * 0).tolist() == [0, 0]
    group = np.array([8, 3, 8])  # groups in the order in which they first occur
    assert pooled_by(column, weights, group).tolist() == [[7, 10], [0, 5]]
    assert pooled_by(column[:, :0], weights[:, :0], group[:0]).shape == (0, 2)
    assert ratio(np.array([1, 2]), np.array([0, 4])).tolist() == [0, 0.5]


def test_a_mean_of_ratios_leaves_out_groups_without_a_bottom_and_meets_a_limit_exactly():
    tenths = np.array([[1, 1], [1, 1], [1, 2], [0, 5]]), np.array([[10, 10], [10, 10], [10, 10], [0, 0]])
    assert mean_ratio(*tenths).tolist() == pytest.approx([0.1, 4 / 30])
    assert mean_ratio(*(part[:, :1] for part in tenths)).tolist() == [0.1]  # of the run itself: exact, rounded once
    assert mean_ratio(np.array([[0.5], [0.25]]), np.array([[1.0], [1.0]])).tolist() == [0.375]
    assert mean_ratio(np.zeros((0, 2)), np.zeros((0, 2))).tolist() == [0, 0]
    assert mean_ratio(np.zeros((1, 1), int), np.zeros((1, 1), int)).tolist() == [0]
    limit = Fraction(1, 10)
    assert mean_exceeds(*tenths, limit).tolist() == [False, True]  # in floats the first is 0.10000000000000002, too
    near = np.array([[10**9, 10**9 + 1, 10**9 - 1]]), np.full((1, 3), 10**10)
    assert mean_exceeds(*near, limit).tolist() == [False, True, False]
    assert mean_exceeds(np.array([[3], [0]]), np.array([[10], [10]]), limit).tolist() == [True]


def test_bits_by_hand():
    # M = 4, P = 3/4, T = 2 s: 2 + .75 log2 .75 + .25 log2(.25/3) = .79248 bits, 30 times a minute
    assert itr(0.75, 4, 2.0) == pytest.approx(23.7744, abs=1e-4)
    assert isinstance(itr(0.75, 4, 2.0), float)
    assert itr(np.array([0.75, 0.2, 1.0]), 4, np.array([2.0, 2.0, 0.0])).tolist() == [itr(0.75, 4, 2.0), 0, 0]
    assert itr(0.75, 4, np.array([[1.0], [2.0]])).shape == (2, 1)
    assert itr(0.5, 2, 1.0) == 0.0
    assert itr(1.0, 4, 0.5) == 240.0


def test_notes_say_what_could_not_be_measured():
    book = rulebook("speller")
    flicker, still = ([t for t in made_up(book, 1.0) if (t.length_n is None) == quiet] for quiet in (False, True))
    assert [note[:23] for note in book.score(flicker).notes] == ["no non-flicker trials i"]
    assert [note[:23] for note in book.score(still).notes] == ["no flicker trials in th"]
    assert book.score(flicker + still).notes == []
    worse = book.score(made_up(book, 0.35))
    assert worse.score == 0 < worse.metrics["itr"]
    assert worse.notes == [f"mean FPR {worse.metrics['fpr']:.3f} is above 0.10: the score is 0"]


def test_share_of_correct_trials():
    trials = made_up(rulebook("imagery"), 0.6)
    assert accuracy(trials) == sum(t.correct for t in trials) / len(trials)
    assert accuracy([]) == 0
