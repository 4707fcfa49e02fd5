"""A headset whose software is written with pylsl, with an LSL library of its own: all as it declares it."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.live.recorder import Recorder
from bciarena.live.streams import LiveIn
from bciarena.recording import open_recording

BOOK = rulebook("liveness")
RATE, SECONDS = 500, 8
SENDER = f"""
import sys, time
import numpy as np
from pylsl import StreamInfo, StreamOutlet, local_clock
name = sys.argv[1]
info = StreamInfo(name, "EEG", 6, {RATE}, "double64", name)
channels = info.desc().append_child("channels")
for label in ("FZ", "cz", "Oz", "C3", "EEG C4-REF", "TRIG"):
    channel = channels.append_child("channel")
    for key, value in (("label", label), ("unit", "volts"), ("type", "EEG")):
        channel.append_child_value(key, value)
eeg, codes = StreamOutlet(info), StreamOutlet(StreamInfo(name + "-codes", "Markers", 1, 0, "int32", name + "c"))
while not (eeg.have_consumers() and codes.have_consumers()):
    time.sleep(0.02)
begin = local_clock() - {SECONDS} - 1
for code, at in ((129, 1.0), (241, 3.0), (5, 4.2), (241, 6.0)):
    codes.push_sample([code], begin + at)
time.sleep(0.3)
at = np.arange({RATE * SECONDS}) / {RATE}
wave = 2e-5 * np.sin(2 * np.pi * 10 * at)
data = np.tile(wave[:, None], (1, 6))
for k in range(0, len(at), 50):
    eeg.push_chunk(data[k : k + 50].tolist(), begin + at[k + 49])
sys.stdin.read()
"""


def test_a_stream_of_pylsl_is_recorded_as_one_of_our_own(tmp_path):
    pytest.importorskip("pylsl", reason="needs pylsl: make test installs it")
    name = f"pylsl-{time.monotonic_ns()}"
    with subprocess.Popen([sys.executable, "-c", SENDER, name], stdin=subprocess.PIPE) as sender:
        try:
            heard = []
            source = LiveIn(name, BOOK, tell=heard.append, hold_s=0.5, wait_s=30)
            recorder = Recorder(tmp_path / "r", BOOK, tell=heard.append)
            source.mark = recorder.mark
            until = time.monotonic() + 60
            while recorder.samples < 250 * SECONDS - 30 and time.monotonic() < until:
                recorder.add(*source.read())
            source.close()
            (block,) = open_recording(recorder.finish()).subjects[0].blocks
        finally:
            sender.kill()
    assert "500 Hz, volts; low-pass to 250 Hz" in source.described
    assert [event.code for event in block.events] == [129, 241, 5, 241], heard
    assert not block.invalid
    for event, at_s in zip(block.events, (1.0, 3.0, 4.2, 6.0), strict=True):
        span = (event.sample + np.arange(100)) / 250
        assert abs(event.sample / 250 - at_s) < 0.0021
        for row in block.eeg[:, event.sample : event.sample + 100]:
            assert np.abs(row - 20 * np.sin(2 * np.pi * 10 * span)).max() < 0.2
