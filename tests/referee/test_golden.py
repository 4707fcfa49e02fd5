"""One worked example per challenge; the arithmetic stands in the comment."""

from __future__ import annotations

import math

import pytest

from bciarena.contests import rulebook
from bciarena.referee import Truth, judge
from tests.making import make_recording, report


def judged(book, blocks, *reports):
    return judge(book, Truth.of(book, make_recording(book, blocks)), reports)


def test_turing():
    # 5 trials 13 s apart, target ceil(4.0) = 4. Right at 1 s, right at 2 s, missing (5 s), right at 1 s, right at 1 s:
    # N = 4, L = 1 + 2 + 5 + 1 + 1 = 10 s, S = 200 * 4 / 10 = 80. A second block with 2 trials, one right: 0. Mean 40.
    book = rulebook("turing")
    task = (1 << 3) | 3  # both robots left, the subject looks at the left flicker
    codes = {k * 3250: task for k in range(5)}
    made = [(0, 250), (1, 500), (3, 250), (4, 250)]
    reports = [report(1, 1, k * 3250 + 10 + n, 3) for k, n in made]
    score = judged(book, [(17000, codes), (6500, {0: task, 3250: task})], *reports, report(1, 2, 260, 3))
    assert [b["score"] for b in score.blocks] == [80.0, 0.0]
    assert score.score == 40.0
    assert score.metrics["blocks_passed"] == 1
    assert score.metrics["accuracy"] == 5 / 7
    assert score.metrics["mean_length_s"] == pytest.approx((10 + 1 + 5) / 7)


def test_turing_trials_after_the_target_are_not_scored():
    # 5 trials all right at 1 s: target 4 reached at the fourth, S = 200 * 4 / 4 = 200; the fifth is after the target.
    book = rulebook("turing")
    codes = {k * 2000: 9 for k in range(5)}
    score = judged(book, [(10000, codes)], *[report(1, 1, k * 2000 + 260, 1) for k in range(5)])
    assert score.score == 200.0
    last = score.trials[-1]
    assert (last.status, last.length_s, last.answer, last.correct) == ("after_target", None, "1", True)


def test_imagery():
    # 4 trials: right at 1 s, right at 2 s, wrong at 1 s, missing (4 s). P = .5, T = (1 + 2 + 1 + 4)/4 + .5 = 2.5 s.
    # bits = log2 3 + .5 log2 .5 + .5 log2(.5/2) = 1.58496 - .5 - 1 = .08496; 60 * .08496 / 2.5 = 2.0391
    book = rulebook("imagery")
    codes = {0: 201, 2000: 202, 4000: 203, 6000: 201}
    reports = [report(1, 1, 260, 201), report(1, 1, 2510, 202), report(1, 1, 4260, 201)]
    score = judged(book, [(8000, codes)], *reports)
    assert score.score == pytest.approx(60 * (math.log2(3) - 1.5) / 2.5)
    assert score.score == pytest.approx(2.0391, abs=1e-4)
    assert score.metrics == {"accuracy": 0.5, "mean_length_s": 2.0}


def test_speller():
    # flicker: key 5 right at 1 s, key 40 right at 2 s; still: one quiet. P = 1, T = 1.5 s: 60 log2 40 / 1.5 = 212.877
    book = rulebook("speller")
    codes = {0: 5, 2000: 40, 4000: 117}
    score = judged(book, [(6000, codes)], report(1, 1, 260, 5), report(1, 1, 2510, 40))
    assert score.score == pytest.approx(40 * math.log2(40))
    assert score.score == pytest.approx(212.877, abs=1e-3)
    assert score.metrics["fpr"] == 0
    # a report in the still trial: FPR = 1 > .1, the score is 0 and the ITR stays visible
    score = judged(book, [(6000, codes)], report(1, 1, 260, 5), report(1, 1, 2510, 40), report(1, 1, 4260, 1))
    assert (score.score, score.metrics["fpr"]) == (0.0, 1.0)
    assert score.metrics["itr"] == pytest.approx(40 * math.log2(40))


def test_liveness():
    # Three trials of subjects 1, 2, 3 (real, real, generated), 241 after 1500 samples (6 s).
    # 1: "100001" at 2 s, counts as 3 s, all right. 2: "000010" at 4 s: real/generated wrong, subject right.
    # 3: no report: wrong, 6 s. P1 = 1/3 < 1/2: ITR 0. P2 = 2/3, T = (3 + 4 + 6)/3 = 13/3 s.
    # bits = log2 23 + 2/3 log2 2/3 + 1/3 log2((1/3)/22); score = .1 * 60 * bits / (13/3)
    book = rulebook("liveness")
    codes = {0: 129, 1500: 241, 2000: 194, 3500: 241, 4000: 3, 5500: 241}
    score = judged(book, [(6000, codes)], report(1, 1, 50 + 500, "100001"), report(1, 1, 2050 + 1000, "000010"))
    bits = math.log2(23) + 2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 66)
    assert score.score == pytest.approx(0.1 * 60 * bits / (13 / 3))
    assert [t.length_s for t in score.trials] == [3.0, 4.0, 6.0]
    assert score.metrics["accuracy_real"] == pytest.approx(1 / 3)
    assert score.metrics["accuracy_subject"] == pytest.approx(2 / 3)


def test_rehab():
    # left flexion: exact 100; right flexion answered right fist: 50; left fist answered right: 0; right fist late: 0.
    book = rulebook("rehab")
    codes = {0: 1, 8500: 2, 17000: 3, 25500: 4}
    reports = [
        report(1, 1, 1040, "1"),
        report(1, 1, 9560, "4"),
        report(1, 1, 18040, 2),
        report(1, 1, 25520 + 4000, "4"),
    ]
    score = judged(book, [(34000, codes)], *reports)
    assert score.score == 150
    assert score.metrics["mean_points"] == 37.5
    assert score.metrics["side_accuracy"] == 0.5
    late = score.trials[3]
    assert (late.status, late.answer, late.length_s) == ("late", "-1", 4.0)
