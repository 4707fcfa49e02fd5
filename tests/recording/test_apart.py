"""Readers of other libraries in a process of their own."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.io

from bciarena.errors import BadInput
from bciarena.recording import apart
from bciarena.recording.contest import read_block


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "block_1.mat"
    names = np.array([["C3"], ["C4"]], dtype=object)
    data = np.random.default_rng(0).standard_normal((3, 100_000))
    data[-1] = 0
    scipy.io.savemat(path, {"data": data, "srate": 250.0, "ch_names": names})
    return path, data


def test_a_sound_file_comes_through_as_it_is(sound):
    path, data = sound
    block = read_block(path)
    assert block.channels == ("C3", "C4")
    assert block.rate == 250
    np.testing.assert_array_equal(block.eeg, data[:-1])


def test_a_reader_that_never_ends_is_ended(tmp_path, monkeypatch):
    """A named pipe that nobody writes to, in place of a file whose pointers go round in circles."""
    monkeypatch.setattr(apart, "LEAST_S", 0.5)
    os.mkfifo(tmp_path / "block_1.mat")
    with pytest.raises(BadInput, match="not read within 0 s; is it damaged"):
        read_block(tmp_path / "block_1.mat")


def test_a_reader_that_crashes_costs_one_file(tmp_path, sound):
    read_block(sound[0])
    os.mkfifo(tmp_path / "block_2.mat")
    process = apart._reader.process

    def crash():
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGSEGV)

    threading.Thread(target=crash).start()
    with pytest.raises(BadInput, match=r"block_2\.mat: the library that reads such files crashed on it"):
        read_block(tmp_path / "block_2.mat")
    assert read_block(sound[0]).rate == 250


def test_from_another_folder_by_a_relative_path(sound, monkeypatch):
    read_block(sound[0])
    monkeypatch.chdir(sound[0].parent)
    assert read_block(sound[0].relative_to(sound[0].parent)).rate == 250


def test_the_reading_process_starts_without_a_word(sound):
    """Python warns of a module that its own package has imported already, on everybody's terminal."""
    code = (
        f"from pathlib import Path; from bciarena.recording.contest import read_block as r; r(Path({str(sound[0])!r}))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stderr == b""
