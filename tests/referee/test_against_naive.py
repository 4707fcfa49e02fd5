"""Random trigger layouts and report schedules: two scorers, written apart, must agree."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bciarena.contests import RULEBOOKS
from bciarena.referee import Truth, judge
from tests.making import make_recording, report
from tests.referee import naive

LONGEST = {"rehab/1": 14000, "liveness/1": 6000}


@st.composite
def block(draw, book):
    samples = draw(st.integers(2, LONGEST.get(book.id, 5000)))
    codes = {}
    places = draw(st.lists(st.integers(0, samples - 1), min_size=1, max_size=12, unique=True))
    for place in sorted(places):
        codes[place] = draw(st.sampled_from(sorted(book.opens - book.forbidden)))
        extra = draw(st.sampled_from([None, 241, 242, 243]))
        if extra and place + 1 < samples:
            codes.setdefault(place + 1 + draw(st.integers(0, samples - place - 2)), extra)
    if book.closing:  # every trial needs its end before the next one begins
        starts = sorted(s for s, c in codes.items() if c in book.opens)
        codes = {s: codes[s] for s in starts}
        for this, following in zip(starts, [*starts[1:], samples], strict=True):
            if following - this < 2:
                del codes[this]
            else:
                codes[draw(st.integers(this + 1, following - 1))] = 241
        if not any(c in book.opens for c in codes.values()):
            codes = {0: 129, samples - 1: 241}
    return samples, codes


def values(book):
    good = [int(v) if book.answers == "integer" else v for v in book.vocabulary]
    odd = [0, -1, 3, 2.0, 201.0, 2.5, "3", "201", "", "100000", "111111", {"other": "None"}, 24, 141]
    return st.one_of(st.sampled_from(good), st.sampled_from(odd))


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_two_scorers_agree(book, data):
    subjects = data.draw(st.lists(st.lists(block(book), min_size=1, max_size=2), min_size=1, max_size=2))
    recording = make_recording(book, *subjects)
    lines, blocks = [], []
    for s, own in enumerate(subjects, 1):
        for b, (samples, codes) in enumerate(own, 1):
            ends = [*range(book.packet_n, samples, book.packet_n), samples]
            at = sorted(data.draw(st.lists(st.sampled_from([0, *ends]), max_size=12)))
            made = [(p, data.draw(values(book)), data.draw(st.sampled_from([0.0, 0.25, 1.5, 4.0]))) for p in at]
            lines += [report(s, b, p, v, t) for p, v, t in made]
            row = [codes.get(k, 0) for k in range(samples)]
            blocks.append((s, list(naive.trials_of(book.id, row, made))))
    score = judge(book, Truth.of(book, recording), lines)
    expected = [t for _, trials in blocks for t in trials]
    assert len(score.trials) == len(expected)
    for got, want in zip(score.trials, expected, strict=True):
        assert got.truth == want["truth"]
        assert got.correct == want["correct"]
        if got.status != "after_target":
            assert got.status == want["status"]
            assert got.length_s == (None if want["length"] is None else pytest.approx(float(want["length"]), abs=1e-12))
    assert score.score == pytest.approx(naive.total(book.id, blocks), rel=1e-9, abs=1e-9)
