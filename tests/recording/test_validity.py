"""Trials that must not be used: written in the table of events, left out of score, report and training."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.recording import Lost, Marks, open_recording, write_contest
from bciarena.recording.bids import write_bids
from bciarena.recording.events import events_text
from bciarena.referee import Truth, judge
from bciarena.report.statistics import trials_from
from bciarena.runs.scoring import score_of
from bciarena.sandbox.training import _as_npz
from tests.making import make_data, make_recording, report

BOOK = rulebook("imagery")
CODES = {100: 201, 1100: 241, 1300: 202, 2300: 241, 2500: 203, 3500: 241}
WHY = "1000 samples were lost at 6.000 s"
MARKS = Marks(BOOK.opens, {1300: WHY}, (Lost(9.7, 202, "no samples were received then"),))
END = {"verdict": "ok"}


@pytest.fixture
def folders(tmp_path):
    """The same block with an invalid trial and a lost code, in both layouts."""
    data = make_data(BOOK, 4000, CODES)
    write_contest(tmp_path / "contest" / "S01" / "block_1.npz", data, 250, BOOK.channels)
    (clean,) = open_recording(tmp_path / "contest").subjects[0].blocks
    table = events_text(clean.events, 250, {}, MARKS)
    (tmp_path / "contest" / "S01" / "block_1_events.tsv").write_text(table)
    write_bids(tmp_path / "bids", "01", "imagery", 1, data[:-1], clean.events, 250, BOOK.channels, marks=MARKS)
    return tmp_path / "contest", tmp_path / "bids", clean


def test_both_layouts_agree_and_validity_is_part_of_the_digest(folders):
    contest, bids, clean = folders
    one, two = open_recording(contest), open_recording(bids)
    for recording in (one, two):
        (block,) = recording.subjects[0].blocks
        assert block.invalid == {1300: WHY}
        assert {e.sample: e.code for e in block.events} == CODES  # the lost code is not among them
    assert one.digest == two.digest != clean.digest
    assert "9.700000\t0\tcode\t202\tn/a\tfalse\tno samples" in next(bids.rglob("*_events.tsv")).read_text()


def test_an_invalid_trial_is_shown_and_counts_for_nothing(folders):
    book, recording = BOOK, open_recording(folders[0])
    reports = [report(1, 1, 400, 201), report(1, 1, 1700, 201), report(1, 1, 3000, 203)]
    found = score_of(book, Truth.of(book, recording), reports, END)
    assert [t["status"] for t in found["trials"]] == ["in_time", "invalid", "in_time"]
    assert f"subject 1 block 1 trial 2 is invalid and left out: {WHY}" in found["notes"]
    without = make_recording(book, [(4000, {k: v for k, v in CODES.items() if k != 1300})])
    other = judge(book, Truth.of(book, without), [reports[0], reports[2]])
    assert (found["score"], found["metrics"]) == (other.score, other.metrics)
    assert [t.trial for t in trials_from(found)] == [1, 3]


def test_training_does_not_see_it(folders, tmp_path):
    with _as_npz(folders[0], False, tmp_path) as shown:
        (block,) = open_recording(shown).subjects[0].blocks
    assert [e.code for e in block.events] == [201, 241, 241, 203, 241]
    assert np.array_equal(block.eeg, folders[2].eeg)


def test_a_trial_that_lost_its_end_is_no_error_if_marked_invalid(tmp_path):
    book = rulebook("liveness")
    write_contest(tmp_path / "S01" / "block_1.npz", make_data(book, 3000, {100: 129, 1000: 130, 2500: 241}), 250,
                  book.channels)  # fmt: skip
    with pytest.raises(BadInput, match="has no 241"):
        Truth.of(book, open_recording(tmp_path))
    table = tmp_path / "S01" / "block_1_events.tsv"
    table.write_text("onset\tsample\tvalid\treason\n0.4\t100\tfalse\tgap\n")
    score = judge(book, Truth.of(book, open_recording(tmp_path)), [])
    assert [t.status for t in score.trials] == ["invalid", "missing"]
    table.write_text("onset\tsample\tvalid\treason\n0.4\t9100\tfalse\tgap\n")
    with pytest.raises(BadInput, match="line 2: sample 9100 is outside"):
        open_recording(tmp_path)
