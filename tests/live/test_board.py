"""BrainFlow's own made-up board, through LSL into a recording that MNE opens."""

from __future__ import annotations

import json
import subprocess
import time

import mne
import numpy as np
import pytest

from bciarena.live.board import BoardClock
from tests.live.test_faults import ARENA, arena, grown, says

CHANNELS = 16  # of the synthetic board


def test_the_synthetic_board_is_recorded_and_opens_in_mne(tmp_path):
    pytest.importorskip("brainflow", reason="needs brainflow: make test installs it")
    name, out = f"board-{time.monotonic_ns()}", tmp_path / "out"
    with arena("live", "board", "--id", -1, "--stream", name) as board:
        says(board, f"board -1: {CHANNELS} channels at 250 Hz")
        # liveness is the cap of which the board has all channels: Fz Cz Oz C3 C4
        with arena(
            "live", "record", "--challenge", "liveness", "--stream", name, "--out", out, "--seconds", 6
        ) as record:
            grown(out / "raw.f32")
            record.wait(60)
        check = [*ARENA, "live", "check", "--challenge", "liveness", "--stream", name, "--once", "--json"]
        told = json.loads(subprocess.run(check, capture_output=True, text=True, timeout=90).stdout)
    assert record.returncode == 0
    assert set(told["ohms"]) == {"Z 1", "Z 2"}  # the synthetic board measures two, and does not say whose
    assert all(value > 0 for value in told["ohms"].values())
    header = next((out / "bids").rglob("*.vhdr"))
    raw = mne.io.read_raw_brainvision(header, preload=True, verbose="error")
    assert raw.info["sfreq"] == 250
    assert raw.ch_names == ["Fz", "Cz", "Oz", "C3", "C4"]
    assert 3.0 < raw.times[-1] < 8.0
    spread = np.std(raw.get_data(), axis=1)
    assert (spread > 0).all()
    side = json.loads(next((out / "bids").rglob("*_eeg.json")).read_text())
    assert side["lost_samples"] == 0


def test_the_boards_clock_is_steady_and_sees_what_is_lost():
    rng, clock = np.random.default_rng(0), BoardClock(250)
    times, sent, lose = [], 0, 5
    for k in range(1, 500):  # asked about every 20 ms, 30 ms late at worst; the board runs 0.1 % slow
        now_s = 0.02 * k + rng.uniform(0, 0.03)
        ready = int(now_s * 249.75)
        lost = lose if k > 400 and ready - sent > lose else 0
        lose -= lost
        if ready > sent:
            times.append((ready, clock.time_of_last(np.arange(sent + lost, ready) % 256, now_s)))
            sent = ready
    assert clock.lost_n == 5
    ready, stamps = np.array(times).T
    assert np.abs(np.diff(stamps) - np.diff(ready) / 250).max() < 0.002  # half a sample
    assert np.abs(stamps - ready / 249.75)[100:].max() < 0.03


def test_a_board_that_is_not_there_is_told():
    pytest.importorskip("brainflow", reason="needs brainflow: make test installs it")
    with arena("live", "board", "--id", 0, "--port", "/dev/no-such-port") as board:
        board.wait(60)
    assert board.returncode == 2
    says(board, "arena: board 0: ")
