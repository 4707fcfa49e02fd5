"""A live run is a run: scored again, reported, compared, replayed and exported from its folder like any other."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest

from bciarena.cli import live, main
from bciarena.contests import rulebook
from bciarena.live.streams import CodesOut, EegOut, need_lsl
from bciarena.recording import open_recording
from bciarena.runs import RunFolder

BOOK = rulebook("imagery")
ENTRY = """
class Always:
    def run(self, packets):
        opened = False
        for packet in packets:
            if opened:
                yield 201 if packet.subject == 3 else 203
            opened = 249 in packet.data[-1]
"""
GAP = range(1500, 2000)  # samples that never come: the third of five trials is cut, the fourth is lost


@pytest.fixture
def one(tmp_path, monkeypatch, capsys):
    """A run of subject 3, block 2, with a pulled cable; its folder, and what the command printed."""
    (tmp_path / "entry.py").write_text(ENTRY)
    monkeypatch.setattr(live, "_stop", threading.Event)  # the tests' own signals stay as they are
    out = tmp_path / "run"
    name, lsl = f"folder-{time.monotonic_ns()}", need_lsl()
    eeg, codes, end = EegOut(name, BOOK.channels, BOOK.rate), CodesOut(name), threading.Event()
    plan = {250: 242, **{500 + 400 * k: 201 + k % 3 for k in range(5)}, **{900 + 400 * k - 50: 241 for k in range(5)}}
    plan[2600] = 243

    def send():
        while not (eeg._outlet.has_consumers and codes._outlet.has_consumers) and not end.wait(0.05):
            pass  # what is sent before anybody listens is lost
        begin_s, sent = lsl.local_clock(), 0
        noise = np.random.default_rng(0).normal(0, 10, (64, 4000))
        while not end.wait(max(0, begin_s + sent / BOOK.rate - lsl.local_clock())) and sent < 4000:
            for at in range(sent, sent + 10):
                if at in plan:
                    codes.push(plan[at], begin_s + at / BOOK.rate)
            if sent not in GAP:
                eeg.push(noise[:, sent : sent + 10], begin_s + (sent + 9) / BOOK.rate)
            sent += 10

    thread = threading.Thread(target=send)
    thread.start()
    try:
        who = ["--challenge", "imagery", "--stream", name, "--subject", "3", "--block", "2"]
        how = ["--out", str(out), "--sandbox", "none", "--seconds", "60"]
        assert main(["live", "run", f"{tmp_path / 'entry.py'}:Always", *who, *how]) == 0
    finally:
        end.set()
        thread.join()
        eeg.close()
        codes.close()
    return out, capsys.readouterr().out


def test_everything_works_on_it(one, tmp_path, capsys):
    one, said = one
    told = "4 reports in 3 trials: 1 right, 2 wrong, 0 late, 0 missing, 1 left out (bad signal); computing"
    assert said.splitlines()[-1].startswith(told)
    score = json.loads((one / "score.json").read_text())
    status = [trial["status"] for trial in score["trials"]]
    assert status == ["in_time", "in_time", "invalid", "in_time"], score["notes"]
    assert {trial["answer"] for trial in score["trials"]} == {"201"}  # it was told that subject 3 sits there
    assert [(t["subject"], t["block"]) for t in score["trials"]] == [(1, 1)] * 4
    assert (one / "data" / "S03" / "block_2.npz").is_file()
    about = RunFolder(one).about()
    assert (about["subject"], about["block"]) == (3, 2)
    header, reports, end = RunFolder(one).ledger()
    assert header["data"] == open_recording(one / "data").digest
    assert end["verdict"] == "ok"
    assert len(reports) == 4
    assert main(["score", str(one), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert {k: again[k] for k in ("score", "metrics", "trials")} == {
        k: score[k] for k in ("score", "metrics", "trials")
    }
    page = tmp_path / "report.html"
    assert main(["report", str(one), "-o", str(page)]) == 0
    assert "left out" in page.read_text("utf-8")
    assert '"replay": null' not in page.read_text("utf-8")
    assert main(["export", str(one), "-o", str(tmp_path / "trials.csv")]) == 0
    assert "invalid" in (tmp_path / "trials.csv").read_text()
    # played again from the recording, the entry is asked at the same places
    offline = tmp_path / "offline"
    entry = str(tmp_path / "entry.py:Always")
    assert main(["run", entry, "--challenge", "imagery", "--data", str(one / "data"), "--out", str(offline),
                 "--sandbox", "none", "--clock", "data"]) == 0  # fmt: skip
    played = RunFolder(offline).ledger().reports
    assert [report["position"] for report in played] == [report["position"] for report in reports]
    assert main(["compare", str(one), str(offline)]) == 0
