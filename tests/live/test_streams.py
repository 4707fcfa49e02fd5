"""Real LSL streams on this machine: what goes out comes in, sample for sample; gaps are told, never filled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from bciarena.bench.parts import wait_for
from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.live.commands import play_out, record
from bciarena.live.recorder import Recorder, rescue
from bciarena.live.streams import CodesOut, EegOut, LiveIn, need_lsl
from bciarena.recording import open_recording
from tests.making import write_folder

BOOK = rulebook("liveness")


@pytest.fixture
def name(request):
    return f"test-{request.node.name[:20]}-{time.monotonic_ns()}"


def test_a_recording_played_and_recorded_is_the_same(tmp_path, name):
    codes = {3: 242, 500: 129, 1000: 241, 1200: 5, 1800: 241, 1990: 243}
    data = write_folder(BOOK, tmp_path / "in", [(2000, codes)])
    stop = threading.Event()
    player = threading.Thread(target=play_out, args=(data, "liveness", name, 1.0, stop, False), daemon=True)
    # LSL drops what is sent before anyone listens: the recorder is there first
    done = {}
    recorder = threading.Thread(
        target=lambda: done.update(record(BOOK, name, tmp_path / "out", 20, stop, lambda text: None)), daemon=True
    )
    player.start()
    recorder.start()
    recorder.join(40)
    stop.set()
    (sent,) = open_recording(data).subjects[0].blocks
    (got,) = open_recording(tmp_path / "out" / "data").subjects[0].blocks
    shift = int(got.eeg[0, 0])  # the first channel counts samples: where the recorder came in
    assert np.array_equal(np.diff(got.eeg[0]), np.ones(got.samples - 1))  # nothing lost, doubled or reordered
    assert shift < 1000
    expected = [(at - shift, code) for at, code in sent.events if at >= shift]
    found = [(event.sample, event.code) for event in got.events]
    assert [code for _, code in found] == [code for _, code in expected]
    assert all(abs(a[0] - b[0]) <= 1 for a, b in zip(found, expected, strict=True))
    assert done["lost_samples"] == 0
    side = next((tmp_path / "out" / "bids").rglob("*_eeg.json"))
    assert json.loads(side.read_text())["lost_samples"] == 0


def test_lost_samples_are_counted_and_not_filled(name):
    lsl = need_lsl()
    out, codes = EegOut(name, BOOK.channels, 250), CodesOut(name)
    heard = []
    source = LiveIn(name, BOOK, tell=heard.append)
    begin = lsl.local_clock() - 5
    for k in (0, 1, 2, 5, 6):  # packets 3 and 4 never come: 100 samples lost
        out.push(np.full((5, 50), float(k)), begin + (k * 50 + 49) / 250)
    codes.push(129, begin + 75 / 250)
    got, marks = np.zeros((5, 0)), np.zeros(0, int)
    until = time.monotonic() + 10
    while got.shape[1] < 250 and time.monotonic() < until:
        eeg, code = source.read()
        got, marks = np.concatenate([got, eeg], axis=1), np.concatenate([marks, code])
    assert got.shape[1] == 250
    assert list(got[0, ::50]) == [0, 1, 2, 5, 6]
    assert source.lost_n == 100
    assert any("100 samples were lost" in text for text in heard)
    source.close()
    out.close()
    codes.close()


def test_a_stream_that_is_not_there_or_not_fitting_is_told(name):
    with pytest.raises(BadInput, match="no LSL stream named"):
        LiveIn(name, BOOK, wait_s=0.5)
    out = EegOut(name, ("Fz", "Cz"), 250)
    with pytest.raises(BadInput, match="has no channel Oz, C3, C4"):
        LiveIn(name, BOOK)
    out.close()
    out = EegOut(name, rulebook("rehab").channels, 250)
    with pytest.raises(BadInput, match="250 Hz; 1000 Hz are needed, or a whole multiple"):
        LiveIn(name, rulebook("rehab"))
    out.close()


def test_a_recording_whose_process_died_can_be_rescued(tmp_path):
    recorder = Recorder(tmp_path / "r", BOOK, safe_s=1e6)
    recorder.add(np.arange(500.0).reshape(5, 100), np.zeros(100, int))
    recorder._file.close()
    recorder._noted.close()
    with open(tmp_path / "r" / "raw.f32", "ab") as file:
        file.write(b"\x00" * 7)  # half a sample, as a crash leaves it
    (block,) = open_recording(rescue(tmp_path / "r")).subjects[0].blocks
    assert np.array_equal(block.eeg, np.arange(500.0).reshape(5, 100))


def test_samples_reach_the_disk_itself_every_now_and_then(tmp_path, monkeypatch):
    sizes, fsync = [], os.fsync

    def synced(number):
        fsync(number)
        sizes.append(os.fstat(number).st_size)

    monkeypatch.setattr("bciarena.live.recorder.os.fsync", synced)
    recorder = Recorder(tmp_path / "r", BOOK, safe_s=0.01)
    for n in (100, 50):
        recorder.add(np.ones((5, n)), np.zeros(n, int))
        wait_for(lambda: recorder.samples * 6 * 4 in sizes, 20, "what was added is on the disk")
    recorder.finish()


def test_a_full_disk_keeps_what_was_written(tmp_path):
    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    recorder = Recorder(tmp_path / "r", BOOK, safe_s=1e6)
    recorder.add(np.ones((5, 50)), np.zeros(50, int))
    recorder._file.close()
    recorder._file = Full()
    recorder.add(np.ones((5, 50)), np.zeros(50, int))
    assert recorder.failed == "recording stopped after 50 samples: No space left on device; what was written is kept"
    assert open_recording(recorder.finish()).subjects[0].blocks[0].samples == 50


def test_a_stream_says_all_of_itself(name):
    """Names, types, units and places of its channels, and who made the amplifier."""
    from xml.etree import ElementTree

    lsl = need_lsl()
    out = EegOut(name, (*BOOK.channels, "ECG"), 250, ("Z Fz",), "A maker", "A model")
    (found,) = lsl.resolve_streams(timeout=5.0, name=name, minimum=1)
    inlet = lsl.StreamInlet(found)
    inlet.open_stream(timeout=5.0)
    desc = ElementTree.fromstring(inlet.get_sinfo(timeout=5.0).as_xml).find("desc")
    rows = desc.findall("channels/channel")
    assert [row.findtext("unit") for row in rows] == ["microvolts"] * 6 + ["ohms"]
    assert [row.findtext("type") for row in rows] == ["EEG"] * 5 + ["ECG", "impedance"]
    assert [row.find("location") is not None for row in rows] == [True] * 5 + [False, False]
    assert desc.findtext("acquisition/manufacturer") == "A maker"
    assert desc.findtext("acquisition/model") == "A model"
    inlet.close_stream()
    out.close()


@pytest.mark.filterwarnings("ignore")  # of mne-lsl's own making
@pytest.mark.parametrize("encoding", ["one-hot", "string"])
def test_mne_lsls_player_is_understood(name, encoding):
    """Volts become microvolts, and what it says of annotations becomes codes."""
    import mne
    from mne_lsl.player import PlayerLSL

    info = mne.create_info(list(BOOK.channels), 250, "eeg")
    raw = mne.io.RawArray(np.full((len(BOOK.channels), 2500), 12e-6), info, verbose="error")
    onsets = np.arange(0.5, 9.5, 0.5)
    raw.set_annotations(mne.Annotations(onsets, 0.1, ["Stimulus/S129", "130", "something else"] * 6))
    player = PlayerLSL(raw, chunk_size=10, name=name, annotations_encoding=encoding).start()
    try:
        source = LiveIn(name, BOOK, tell=lambda words: None)
        until, seen, levels = time.monotonic() + 30, set(), set()
        while seen != {129, 130} and time.monotonic() < until:
            eeg, codes = source.read()
            seen |= set(codes[codes > 0].tolist())
            levels |= set(np.round(eeg, 3).ravel().tolist())
        source.close()
    finally:
        player.stop()
    assert seen == {129, 130}
    assert levels == {12.0}


def test_lsls_own_greetings_stay_off_the_terminal(tmp_path):
    """A process of its own: the library reads its settings once. A laboratory's own settings are left alone."""
    code = "from bciarena.live.streams import need_lsl; need_lsl().resolve_streams(timeout=0.1)"
    env = {name: value for name, value in os.environ.items() if name != "LSLAPICFG"}
    for own, quiet in ((None, True), ("[log]\nlevel = 0\n", False)):
        if own:
            (tmp_path / "lsl_api.cfg").write_text(own)
        said = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, check=True
        ).stderr
        assert (said == b"") is quiet
