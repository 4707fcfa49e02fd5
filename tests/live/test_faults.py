"""What goes wrong in a lab, with real programs: data so far is kept, terminal and page say what happened."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import psutil
import pytest

from bciarena.bench.live import ENTRY
from bciarena.bench.parts import wait_for
from bciarena.contests import rulebook
from bciarena.live.streams import CodesOut, EegOut, need_lsl
from bciarena.recording import open_recording
from tests.lab.blocks import patient, word_block
from tests.lab.conftest import serving

BOOK = rulebook("speller")
ARENA = [sys.executable, "-m", "bciarena"]
WAIT_S = 60


@pytest.fixture
def name(request):
    return f"fault-{time.monotonic_ns()}"


@contextmanager
def headset(name, first_n=0):
    """A stream whose first channel counts samples, in real time, until the block is left."""
    lsl, out, end = need_lsl(), EegOut(name, BOOK.channels, BOOK.rate), threading.Event()
    begin_s = lsl.local_clock()
    sent = [first_n]

    def run():
        while not end.is_set():
            sent[0] += 10
            last_s = begin_s + (sent[0] - first_n - 1) / BOOK.rate
            end.wait(max(0, last_s - lsl.local_clock()))
            eeg = np.random.default_rng(sent[0]).normal(0, 10, (len(BOOK.channels), 10))
            eeg[0] = np.arange(sent[0] - 10, sent[0])
            out.push(eeg, last_s)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield sent
    finally:
        end.set()
        thread.join()
        out.close()


@contextmanager
def arena(*words, inside=()):
    """A command in the background; gives what it said so far, as a list of lines."""
    process = subprocess.Popen([*inside, *ARENA, *map(str, words)], stderr=subprocess.PIPE, text=True)
    process.said = []

    def listen():
        with process.stderr:  # closed by its only reader, at its end
            for line in process.stderr:
                process.said.append(line)

    reader = threading.Thread(target=listen, daemon=True)
    reader.start()
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(WAIT_S)
        finally:
            process.kill()
            process.wait()
            reader.join()


def says(process, text):
    wait_for(lambda: any(text in line for line in process.said) or process.poll() is not None, WAIT_S, text)
    assert any(text in line for line in process.said), process.said


def grown(path, size=1):
    wait_for(lambda: path.exists() and path.stat().st_size > size, WAIT_S, f"{path.name} grows")


def write_entry(folder, text=ENTRY):
    path = folder / "Algorithm" / "AlgorithmImplementSSVEP.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return folder


def test_the_stream_stops_and_returns(tmp_path, name):
    hub, codes = patient(word_block("A", 1, 1)), CodesOut(name)
    out = tmp_path / "out"
    with (
        serving(hub) as address,
        arena("live", "record", "--challenge", "speller", "--stream", name, "--out", out, "--hub", address) as record,
    ):
        with headset(name) as sent:
            grown(out / "raw.f32", 100_000)
        before = sent[0]
        says(record, "the stream has stopped: no samples for 1 s; data so far is kept")
        wait_for(lambda: "the stream has stopped" in hub.message, WAIT_S, "the page says so")
        size = (out / "raw.f32").stat().st_size
        with headset(name, before):
            grown(out / "raw.f32", size + 100_000)
            says(record, "the stream is back")
            wait_for(lambda: "the stream is back" in hub.message, WAIT_S, "the page says so")
            record.send_signal(signal.SIGINT)
            record.wait(WAIT_S)
    assert record.returncode == 0
    codes.close()
    (block,) = open_recording(out / "data").subjects[0].blocks
    count = np.asarray(block.eeg[0])
    jumps = np.flatnonzero(np.diff(count) != 1)
    assert len(jumps) <= 1  # at most where the stream was away; nothing was filled in
    assert count[0] < before < count[-1]
    side = json.loads(next((out / "bids").rglob("*_eeg.json")).read_text())
    assert side["reconnects"] == 1
    assert side["lost_samples"] > BOOK.rate


CRASH = ENTRY.replace("report = ReportModel()", "report = ReportModel()\n            assert said < 50, 'out of luck'")


def test_the_decoder_crashes_and_another_goes_on(tmp_path, name):
    hub, codes = patient(word_block("A", 1, 1)), CodesOut(name)
    who = ("--challenge", "speller", "--stream", name)
    with serving(hub) as address, headset(name):
        bad = write_entry(tmp_path / "bad", CRASH)
        with arena("live", "run", bad, *who, "--hub", address, "--out", tmp_path / "first") as run:
            run.wait(WAIT_S)
        assert run.returncode == 1
        says(run, "crashed: the entry raised AssertionError: out of luck")
        wait_for(lambda: "AssertionError: out of luck" in hub.message, WAIT_S, "the page says so")
        assert "start arena live run again" in hub.message
        told = len(hub.answers)
        assert told == 50
        good = write_entry(tmp_path / "good")
        with arena("live", "run", good, *who, "--hub", address, "--out", tmp_path / "second"):
            wait_for(lambda: len(hub.answers) > told + 10, WAIT_S, "answers again")
    codes.close()
    (block,) = open_recording(tmp_path / "first" / "data").subjects[0].blocks
    assert block.samples >= 500
    assert np.array_equal(np.diff(block.eeg[0]), np.ones(block.samples - 1))
    assert json.loads((tmp_path / "first" / "score.json").read_text())["verdict"] == "crashed"


@pytest.mark.parametrize("verb", ["record", "run"])
def test_the_disk_is_full(tmp_path, name, verb):
    """A real small disk: a tmpfs of 1 MB in a mount space of its own; the folder is looked at from inside."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        pytest.skip("needs bubblewrap (Debian: apt install bubblewrap)")
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    small = (bwrap, "--die-with-parent", "--dev-bind", "/", "/", "--size", "1000000", "--tmpfs", disk)
    script = tmp_path / "in.sh"
    script.write_text(f'"$@"\nstatus=$?\ncp -r {disk}/out {kept}\nexit $status\n')
    hub, codes = patient(word_block("A", 1, 1)), CodesOut(name)
    entry = [write_entry(tmp_path / "entry"), "--sandbox", "none"] if verb == "run" else []
    who = ("--challenge", "speller", "--stream", name, "--out", disk / "out")
    with (
        serving(hub) as address,
        headset(name),
        arena("live", verb, *entry, *who, "--hub", address, inside=(*small, "sh", script)) as program,
    ):
        says(program, "No space left on device; what was written is kept")
        wait_for(lambda: "No space left on device" in hub.message, WAIT_S, "the page says so")
        if verb == "run":
            told = len(hub.answers)
            wait_for(lambda: len(hub.answers) > told + 20, WAIT_S, "decoding goes on")
        (inner,) = [p for p in psutil.Process(program.pid).children(recursive=True) if "live" in p.cmdline()[:4]]
        inner.send_signal(signal.SIGINT)
        program.wait(WAIT_S)
    codes.close()
    assert program.returncode == 2
    assert not any("Traceback" in line for line in program.said), program.said
    says(program, "make room, then arena live rescue")
    subprocess.run([*ARENA, "live", "rescue", kept], check=True)
    (block,) = open_recording(kept / "data").subjects[0].blocks
    assert block.samples > 3000
    assert np.array_equal(np.diff(block.eeg[0]), np.ones(block.samples - 1))
