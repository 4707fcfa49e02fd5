"""The whole loop on one machine with no headset: page, virtual brain, LSL, boxed entry, feedback on the page."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from bciarena.bench.parts import size_of, wait_for
from bciarena.contests.trial import VOID
from bciarena.live.streams import CodesOut
from bciarena.recording import open_recording
from tests.browser import until
from tests.lab.blocks import patient, rounds_block, word_block
from tests.lab.conftest import serving

SUBJECT, SEED = 6, 3  # a made-up person with strong responses
ARENA = [sys.executable, "-m", "bciarena"]
pytestmark = pytest.mark.realtime


@contextmanager
def started(*words):
    """A command in the background, ended by Ctrl-C as a person would."""
    process = subprocess.Popen([*ARENA, *map(str, words)], stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def play_block(page, timeline, challenge, entry, folder, *more):
    """Everything at once; returns the score file of the live run."""
    name = f"loop-{time.monotonic_ns()}"
    codes = CodesOut(name)
    hub = patient(timeline, folder / "log.jsonl", codes.push)
    with serving(hub) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        who = ("--challenge", challenge, "--hub", address, "--stream", name)
        raw = folder / "run" / "raw.f32"
        with (
            started("live", "subject", *who, "--subject", SUBJECT, "--seed", SEED),
            started("live", "run", entry, *who, "--out", folder / "run", *more) as run,
        ):
            deadline = time.monotonic() + 60
            while not raw.exists() or not raw.stat().st_size:  # the entry has asked for its first packet
                assert run.poll() is None, run.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.1)
            hub.hear("operator", {"type": "command", "name": "start"}, lambda message: None)
            until(page, "!window.lab.player.running && window.lab.player.total > 100", timeline.duration_s + 60)
            run.wait(60)
    codes.close()
    assert page.errors == []
    return json.loads((folder / "run" / "score.json").read_text())


def replays_to_the_same_answers(folder, entry, live, *more):
    """The recording made meanwhile is a data folder like any other: scored again and played again."""
    command = [*ARENA, "run", entry, "--data", folder / "run" / "data", "--clock", "data", "--json", *more]
    again = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert [t["answer"] for t in again["trials"]] == [t["answer"] for t in live["trials"]]


def test_a_word_is_typed(page, tmp_path):
    """By the baseline: its fixed window answers every key of a strong responder, @speller may stay silent."""
    live = play_block(page, word_block("HI", SUBJECT, 1), "speller", "@speller-baseline", tmp_path)
    assert page.evaluate("window.lab.stage.typed") == "HI"
    assert [t["answer"] for t in live["trials"]] == ["8", "9"]
    assert live["verdict"] == "ok"
    replays_to_the_same_answers(tmp_path, "@speller-baseline", live)
    side = json.loads(next((tmp_path / "run" / "bids").rglob("*_eeg.json")).read_text())
    assert side["frames"] > 500
    assert "dropped_frames" in side


def ends_in_a_goal(timeline):
    """Whether the last action is a goal that the subject commanded by looking at the flicker."""
    game = timeline.of("action")[-1].params["game"]
    return game["outcome"] == "goal" and game["task"] == 6


def test_a_soccer_round_is_won(page, tmp_path):
    """A round that ends in a goal: it counts only when the decoder understood the subject in that trial."""
    seed = next(s for s in range(100) if ends_in_a_goal(rounds_block(1, SUBJECT, 1, s)))
    subprocess.run([*ARENA, "simulate", "turing", "--split", "train", "--subjects", str(SUBJECT), "--blocks", "5",
                    "--seed", str(SEED), "--out", tmp_path / "train"], check=True)  # fmt: skip
    subprocess.run([*ARENA, "train", "@turing", "--data", tmp_path / "train", "--out", tmp_path / "model"], check=True)
    timeline = rounds_block(1, SUBJECT, 1, seed)
    live = play_block(page, timeline, "turing", "@turing", tmp_path, "--model", tmp_path / "model")
    assert live["verdict"] == "ok"
    assert sum(t["correct"] for t in live["trials"]) > len(live["trials"]) / 2
    assert page.evaluate("window.lab.stage.goals") >= 1
    replays_to_the_same_answers(tmp_path, "@turing", live, "--model", tmp_path / "model")


def test_a_page_reloaded_in_mid_block_goes_on(page, tmp_path):
    """The trial that was cut stays in the recording, the operator starts the page again, the block comes to its end."""
    name = f"reload-{time.monotonic_ns()}"
    codes = CodesOut(name)
    hub = patient(word_block("AB", SUBJECT, 1), tmp_path / "log.jsonl", codes.push)
    start = {"type": "command", "name": "start"}
    with serving(hub) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        who = ("--challenge", "speller", "--hub", address, "--stream", name)
        with (
            started("live", "subject", *who, "--subject", SUBJECT, "--seed", SEED),
            started("live", "record", *who, "--out", tmp_path / "record") as record,
        ):
            wait_for(lambda: size_of(tmp_path / "record" / "raw.f32") > 0, 60, "samples are recorded")
            hub.hear("operator", start, print)
            until(page, "window.lab.player.steps[window.lab.player.index].code === 1")
            page.reload()
            until(page, "window.lab?.player.timeline")
            wait_for(lambda: "went away in trial 1; data so far is kept" in hub.message, 10, "the operator is told")
            hub.hear("operator", start, print)
            record.wait(60)
    codes.close()
    (block,) = open_recording(tmp_path / "record" / "data").subjects[0].blocks
    shown = [event.code for event in block.events]
    assert shown == [242, 1, VOID, 2, 241, 243]  # the first trial is void: the page was gone
    side = json.loads(next((tmp_path / "record" / "bids").rglob("*_eeg.json")).read_text())
    assert side["frames"] > 200
    assert side["lost_samples"] == 0
