"""A run folder is the same whoever wrote it, and what one part writes another reads."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from bciarena.cli import main as arena
from bciarena.contests import rulebook
from bciarena.live.streams import CodesOut, EegOut, need_lsl
from bciarena.recording import open_recording
from bciarena.sandbox import why_not
from tests.making import write_folder

BOOK = rulebook("imagery")
ENTRY = """
import sys
class Entry:
    def start(self, info):
        self.left = None
        print("hello from the start")
    def step(self, packet):
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.left = None
                print("answering in packet", packet.number, file=sys.stderr)
                return 201
        if 249 in packet.data[-1]:
            self.left = 25
"""
FILES = {
    "ledger.jsonl",
    "score.json",
    "layout.json",
    "think.npz",
    "stdout.txt",
    "stderr.txt",
    "output.jsonl",
    "run.json",
}


@pytest.fixture(scope="module", autouse=True)
def _box():
    if reason := why_not():
        pytest.skip(f"boxes do not work here: {reason}")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """An entry, and a recording of two trials that ends with its code."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "entry.py").write_text(ENTRY)
    write_folder(BOOK, folder / "data", [(1600, {5: 242, 250: 201, 850: 202, 1580: 243})])
    return folder


@pytest.fixture(scope="module")
def offline(place):
    out = place / "offline"
    assert arena(["run", f"{place}/entry.py:Entry", "--challenge", "imagery", "--data", str(place / "data"),
                  "--out", str(out)]) == 0  # fmt: skip
    return out


@pytest.fixture(scope="module")
def live(place):
    """Two trials from a headset, decoded while they come in."""
    name, out = f"folder-{time.monotonic_ns()}", place / "live"
    command = [sys.executable, "-m", "bciarena", "live", "run", f"{place}/entry.py:Entry", "--challenge", "imagery",
               "--stream", name, "--out", str(out)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    eeg, codes, raw = EegOut(name, BOOK.channels, BOOK.rate), CodesOut(name), out / "raw.f32"
    wanted = {5: 242, 250: 201, 850: 202, 1500: 243}
    begin_s, sent, first = need_lsl().local_clock(), 0, None
    while process.poll() is None:
        time.sleep(max(0.0, begin_s + (sent + 9) / BOOK.rate - need_lsl().local_clock()))
        eeg.push(np.random.default_rng(sent).normal(0, 10, (len(BOOK.channels), 10)), begin_s + (sent + 9) / BOOK.rate)
        if first is None and raw.exists() and raw.stat().st_size:  # the entry has asked for its first packet
            first = sent + 250
        for at in [at for at in wanted if first is not None and first + at < sent + 10]:
            codes.push(wanted.pop(at), begin_s + (first + at) / BOOK.rate)
        sent += 10
        assert sent < 60 * BOOK.rate
    said = process.communicate()
    eeg.close()
    codes.close()
    assert process.returncode == 0, said
    return out


def test_what_a_boxed_entry_prints_is_in_its_report(offline, tmp_path):
    assert arena(["report", str(offline), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "hello from the start" in page
    assert "answering in packet" in page


def test_a_live_run_leaves_the_same_folder(offline, live):
    assert {path.name for path in offline.iterdir()} == FILES
    assert {path.name for path in live.iterdir()} >= FILES
    assert not [path for path in live.iterdir() if path.name.endswith(".part")]
    ours, theirs = (json.loads((run / "ledger.jsonl").read_text().splitlines()[0]) for run in (live, offline))
    assert set(theirs) <= set(ours)
    assert ours["data"] == open_recording(live / "data").digest
    assert ours["entry"] == theirs["entry"]
    packets = json.loads((live / "ledger.jsonl").read_text().splitlines()[-1])["packets"]
    assert abs(len(np.load(live / "think.npz")["think_s"]) - packets) <= 1
    keys = [set(json.loads((run / "score.json").read_text())) for run in (live, offline)]
    assert keys[0] == keys[1]


def test_every_command_takes_a_live_run(live, tmp_path, capsys):
    assert arena(["score", str(live)]) == 0
    assert "equals the stored score" in capsys.readouterr().out
    assert [t["answer"] for t in json.loads((live / "score.json").read_text())["trials"]] == ["201", "201"]
    assert arena(["report", str(live), "-o", str(tmp_path / "page.html")]) == 0
    assert "hello from the start" in (tmp_path / "page.html").read_text("utf-8")
    assert arena(["export", str(live), "--out", str(tmp_path / "rows.csv")]) == 0
    again = tmp_path / "again"
    entry = f"{live.parent}/entry.py:Entry"
    assert arena(["run", entry, "--challenge", "imagery", "--data", str(live / "data"), "--out", str(again)]) == 0
    assert arena(["compare", str(live), str(again)]) == 0
