"""What one kind of loss cost, counted by hand."""

from __future__ import annotations

import pytest

from bciarena.contests import rulebook
from bciarena.contests.trial import Trial
from bciarena.report.insight import alternatives


def judged(book, *rows):
    """Trials of one block from (truth, answer, status, seconds)."""
    return [
        Trial(1, 1, k, truth, answer, answer == truth if status != "quiet" else True,
              None if seconds is None else round(seconds * book.rate), status, book.rate)
        for k, (truth, answer, status, seconds) in enumerate(rows, 1)
    ]  # fmt: skip


def test_rehab_side_and_action():
    book = rulebook("rehab")
    trials = judged(
        book,
        ("1", "1", "in_time", 2.0),  # 100
        ("1", "3", "in_time", 2.0),  # 50: right side, wrong action
        ("1", "2", "in_time", 2.0),  # 0: the other hand's flexion
        ("1", "4", "in_time", 2.0),  # 0: the other hand's fist
        ("1", None, "missing", 4.0),  # 0
    )
    assert book.score(trials).score == 150
    assert alternatives(book, trials) == {"no_wrong_side": 300, "no_silence": 250, "no_wrong_action": 200}


def test_liveness_questions_apart():
    book = rulebook("liveness")
    trials = judged(book, *[("100001", "100001", "in_time", 3.0)] * 6, *[("100001", "000001", "in_time", 3.0)] * 2)
    # The person is right throughout, so 0.9 ITR of a sure yes or no every 3 s can be had: 0.9 * 20 bits/min.
    found = alternatives(book, trials)
    assert list(found) == ["no_wrong_real"]
    assert found["no_wrong_real"] - book.score(trials).score == pytest.approx(0.9 * 20 * 0.8112781, rel=1e-6)


def test_speller_that_answers_idle_trials_would_gain_by_silence():
    book = rulebook("speller")
    trials = judged(book, *[("7", "7", "in_time", 1.0)] * 8, *[("101", "7", "false_positive", None)] * 2)
    assert book.score(trials).score == 0
    assert alternatives(book, trials) == {"no_alarms": pytest.approx(60 * 5.321928, rel=1e-6)}


def test_a_perfect_run_has_nothing_to_gain():
    book = rulebook("imagery")
    assert alternatives(book, judged(book, *[("201", "201", "in_time", 1.0)] * 4)) == {}
