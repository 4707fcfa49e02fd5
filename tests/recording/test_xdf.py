"""A block written as XDF is read back by pyxdf, and comes in again as it was, for every contest."""

import numpy as np
import pytest

from bciarena.cli import main
from bciarena.contests import CONTESTS
from bciarena.contests.codes import codes_of
from bciarena.recording import Block, Event, open_recording, write_contest
from bciarena.recording.xdf import write_xdf

pyxdf = pytest.importorskip("pyxdf")


def block_of(book, seconds=4, step=7) -> Block:
    rng = np.random.default_rng(1)
    codes = sorted(book.opens)[:20]
    trigger = np.zeros(max(seconds * book.rate, 50 * step))
    for n, code in enumerate(codes):
        trigger[5 + n * step] = code
    eeg = rng.standard_normal((len(book.channels), len(trigger))).astype(np.float32)
    return Block(eeg, trigger, book.rate, book.channels)


@pytest.mark.parametrize("name", sorted(CONTESTS))
def test_pyxdf_reads_samples_codes_and_metadata(name, tmp_path):
    book = CONTESTS[name].rules
    block = block_of(book)
    write_xdf(tmp_path / "a.xdf", block, "eeg")
    streams, _ = pyxdf.load_xdf(str(tmp_path / "a.xdf"))
    eeg, codes = sorted(streams, key=lambda one: one["info"]["type"][0])
    assert np.array_equal(eeg["time_series"].T, block.eeg)
    assert np.allclose(np.diff(eeg["time_stamps"]), 1 / book.rate)
    first = eeg["time_stamps"][0]
    assert [round((at - first) * book.rate) for at in codes["time_stamps"]] == [event.sample for event in block.events]
    assert codes["time_series"][:, 0].tolist() == [event.code for event in block.events]
    rows = eeg["info"]["desc"][0]["channels"][0]["channel"]
    assert [row["label"][0] for row in rows] == list(book.channels)
    assert {row["unit"][0] for row in rows} == {"microvolts"}
    placed = next(row for row in rows if row["label"][0].casefold() == "cz")
    assert 100 < float(placed["location"][0]["Z"][0]) < 200
    assert eeg["info"]["desc"][0]["acquisition"][0]["manufacturer"] == ["BCI Arena"]


def test_out_and_in_again(tmp_path, capsys):
    """Contest layout to XDF, and the XDF imported: the same samples and codes."""
    book = CONTESTS["imagery"].rules
    block = block_of(book, 20, 300)
    write_contest(tmp_path / "data" / "S01" / "block_1.npz", block.data, block.rate, block.channels)
    arguments = ["convert", str(tmp_path / "data"), "--challenge", "imagery", "-o", str(tmp_path / "xdf")]
    assert main([*arguments, "--format", "doc"]) == 2
    assert main(arguments) == 0
    assert main(["import", str(tmp_path / "xdf"), "--challenge", "imagery", "--out", str(tmp_path / "back")]) == 0
    (subject,) = open_recording(tmp_path / "back").subjects
    (found,) = subject.blocks
    assert tuple(event for event in found.events if event.code in book.opens) == block.events
    assert np.array_equal(found.eeg, block.eeg)


def test_bids_and_back(tmp_path):
    book = CONTESTS["rehab"].rules
    events = tuple(Event(40 * n, code) for n, code in enumerate(sorted(codes_of(book)), 1))
    trigger = np.zeros(1000)
    for event in events:
        trigger[event.sample] = event.code
    data = np.vstack([np.ones((len(book.channels), 1000), np.float32), trigger[None].astype(np.float32)])
    write_contest(tmp_path / "a" / "S01" / "block_1.npz", data, book.rate, book.channels)
    for source, target, kind in (("a", "b", "bids"), ("b", "c", "contest")):
        order = ["convert", str(tmp_path / source), "--challenge", "rehab", "-o", str(tmp_path / target)]
        assert main([*order, "--format", kind]) == 0
    assert open_recording(tmp_path / "c").digest == open_recording(tmp_path / "a").digest
