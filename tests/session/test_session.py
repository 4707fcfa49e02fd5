"""A session in which everything goes wrong: what is marked valid is right, what is not is marked."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import psutil
import pytest

from bciarena.bench.parts import listening, wait_for
from bciarena.contests import rulebook
from bciarena.contests.spans import trial_spans
from bciarena.lab.hub import CUT
from bciarena.lab.told import kept_lines
from bciarena.live.streams import LATE_S
from bciarena.recording import open_recording
from bciarena.runs import RunFolder
from tests.browser import until
from tests.lab.conftest import free_port

ARENA = [sys.executable, "-m", "bciarena"]
BOOK = rulebook("speller")
LOST_MS = 1500  # a busy machine loses frames of its own
PLAN = """
challenge = "speller"
subject = 6
seed = 3
out = "out"
stream = "{stream}"
lost_ms = {lost_ms}
sandbox = "none"
repeat_void = true
[[part]]
split = "test"
blocks = [1, 2]
entry = "{folder}/entry.py:Pure"
options = {{ word = "HI" }}
"""
# What it says depends on the packet alone: whenever it is started, it says the same of the same samples.
ENTRY = """
class Pure:
    def start(self, info):
        with open("FOLDER/told.txt", "a") as file:
            file.write(f"{info.get('refresh_hz')}\\n")

    def run(self, packets):
        for packet in packets:
            number = int(abs(float(packet.data[0, 0])) * 1000)
            if number % 40 == 0:
                yield number // 40 % 40 + 1
"""
pytestmark = pytest.mark.realtime


@contextmanager
def session(plan, port):
    """The session as a process, killed if it is still there in the end."""
    command = [*ARENA, "session", "run", plan, "--virtual", "--port", str(port)]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: listening(port), 90, "the session's pages are there")
        yield process
    finally:
        process.kill()
        process.communicate()


def flickers(page, key, wait_s=90):
    until(page, f"window.lab?.player.running && window.lab.player.entered >= 0 &&"
                f"window.lab.player.steps[window.lab.player.index].code === {key}", wait_s)  # fmt: skip


def subject_of(process):
    """The virtual subject's process: the cable to it is pulled by stopping it."""
    return next(child for child in psutil.Process(process.pid).children(True) if "subject" in child.cmdline())


def test_starved_page_operators_pause_pulled_cable_and_a_killed_session(page, browser, tmp_path):
    plan, port = tmp_path / "plan.toml", free_port()
    plan.write_text(PLAN.format(stream=f"session-{time.monotonic_ns()}", lost_ms=LOST_MS, folder=tmp_path))
    (tmp_path / "entry.py").write_text(ENTRY.replace("FOLDER", str(tmp_path)))
    stage, data = f"http://127.0.0.1:{port}/stage", tmp_path / "out" / "data" / "test"
    with session(plan, port) as process:
        page.goto(stage)
        operator = browser.new_page()
        operator.goto(stage.replace("stage", "operator"))
        flickers(page, 8)
        page.evaluate("() => { const begin = performance.now(); while (performance.now() - begin < 4000); }")
        flickers(page, 9)
        operator.click("[data-command=pause]")
        until(operator, "document.getElementById('state').textContent === 'paused'")
        shown = operator.inner_text("#trial")
        page.wait_for_timeout(1500)
        assert operator.inner_text("#trial") == shown
        assert page.evaluate("window.lab.stage.note") == "paused"
        operator.click("[data-command=resume]")
        wait_for(lambda: (data / "S06" / "block_1.npz").is_file(), 120, "block 1 is recorded")
        flickers(page, 8)
        subject = subject_of(process)
        page.wait_for_timeout(1500)  # its code is recorded, the cable is pulled in the middle of the flicker
        subject.send_signal(signal.SIGSTOP)
        page.wait_for_timeout(4000)
        subject.send_signal(signal.SIGCONT)
        flickers(page, 9)
        page.wait_for_timeout(1000)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        operator.close()
    with session(plan, port) as process:  # the page comes back by itself
        wait_for(lambda: process.poll() is not None, 180, "the session has come to its end")
        assert process.returncode == 0, process.stderr.read()

    recording = open_recording(data)
    assert [subject.name for subject in recording.subjects] == ["S06"]
    logs = [kept_lines(tmp_path / "out" / "log" / f"test_{number}.jsonl") for number in (1, 2)]
    blocks = recording.subjects[0].blocks
    for block, log, least in zip(blocks, logs, (2, 1), strict=True):
        assert marked_by_the_log(block, log) >= least
    first, second = ([block.invalid.get(span.opened, "") for span in trial_spans(BOOK, block)] for block in blocks)
    assert "void" in first[0]
    assert "lost" in second[0]
    assert second[1] == CUT
    # What spoils a trial is shown again: void, a pulled cable, a killed session.
    for block in blocks:
        good = {span.code for span in trial_spans(BOOK, block) if span.opened not in block.invalid}
        assert good == {8, 9}
    assert [float(hz) > 20 for hz in (tmp_path / "told.txt").read_text().split()] == [True, True]  # twice started
    # Played again from the recording, the entry says the same of both blocks, also of what came after it was killed.
    live, again = RunFolder(tmp_path / "out" / "runs" / "test"), tmp_path / "again"
    command = ["run", f"{tmp_path}/entry.py:Pure", "--challenge", BOOK.name, "--clock", "data", "--sandbox", "none"]
    subprocess.run([*ARENA, *command, "--data", data, "--out", again], capture_output=True, check=True)
    said, replayed = ([(line["block"], line["position"], line["value"]) for line in run.ledger().reports]
                      for run in (live, RunFolder(again)))  # fmt: skip
    assert {block for block, _, _ in said} == {1, 2}
    assert said == replayed
    answers = subprocess.run(
        [*ARENA, "run", "@speller-baseline", "--data", data, "--clock", "data", "--json", "--sandbox", "none"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    trials = json.loads(answers.stdout)["trials"]
    valid = [trial for trial in trials if trial["status"] != "invalid"]
    assert len(trials) - len(valid) == sum(len(block.invalid) for block in blocks)
    assert [trial["answer"] for trial in valid] == [trial["truth"] for trial in valid]


def marked_by_the_log(block, log):
    """Codes, frames and samples against each other; gives how many trials are valid."""
    spans = trial_spans(BOOK, block)
    steps = [line for line in log if line["type"] == "step" and line["code"] in BOOK.opens]
    assert [span.code for span in spans] == [step["code"] for step in steps]
    void = {line["index"] for line in log if line["type"] == "void"}
    frames = np.concatenate([line["from_s"] + np.cumsum([0, *line["intervals_ms"]]) / 1e3
                             for line in log if line["type"] == "frames"])  # fmt: skip
    valid = []
    for span, step in zip(spans, steps, strict=True):
        if void & {step["index"], step["index"] + 1}:  # its flicker or its feedback was cut
            assert span.opened in block.invalid
        elif span.opened not in block.invalid:
            seen = np.sort(frames[(frames >= step["hub_s"] - 0.001) & (frames < step["hub_s"] + 4.0)])
            late = np.diff(seen)[np.diff(seen) > 0.025] - 1 / 60
            assert 1e3 * late.sum() <= LOST_MS + 20
            valid.append((span, step))
    # Beside an entry that waits for samples a code may come late, by the machine's fault: it is told, and by how much.
    late = any("ms after its sample" in line.get("text", "") for line in log)
    for (one, shown), (other, later) in itertools.pairwise(valid):
        if later["hub_s"] - shown["hub_s"] < 12:  # nothing between them: samples and frames tell the same time
            assert (other.opened - one.opened) / BOOK.rate == pytest.approx(
                later["hub_s"] - shown["hub_s"], abs=0.02 + late * LATE_S
            )
    return len(valid)
