"""Amplifiers as they are: other rates, names, units; gaps, clocks that jump, channels without numbers."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from bciarena.bench.parts import wait_for
from bciarena.contests import rulebook
from bciarena.contests.rehab.brain import finish
from bciarena.errors import BadInput
from bciarena.importing.meanings import Blank
from bciarena.live.amplifier import Amplifier, Decimator, Wiring
from bciarena.live.recorder import Recorder
from bciarena.live.streams import CodesOut, LiveIn, need_lsl
from bciarena.protocol import timelines
from bciarena.recording import open_recording
from bciarena.recording.channels import wire_map
from bciarena.simulator.person import draw_person

IMAGERY, LIVENESS, REHAB = rulebook("imagery"), rulebook("liveness"), rulebook("rehab")
OLD = {"T7": "T3", "T8": "EEG T4-REF", "P7": "T5", "P8": "T6", "Fpz": "FPZ", "FZ": "Fz"}
THEIRS = tuple(OLD.get(name, name) for name in IMAGERY.channels)


@pytest.fixture
def name():
    return f"amp-{time.monotonic_ns()}"


def fitted(book, channels, units=(), types=(), rate=250, wiring=None):
    heard = []
    made = Amplifier(book, wiring or Wiring(), "x", channels, units, types, len(channels), rate, heard.append)
    made.heard = heard
    return made


@pytest.mark.parametrize("times", [2, 4, 8])
def test_a_filter_that_moves_nothing_and_folds_nothing(times):
    rate = 250 * times
    stamps = 100 + np.arange(4 * rate) / rate
    out = {}
    for hz in (3, 40, 88, 165, 240):
        wave = np.sin(2 * np.pi * hz * stamps)[None]
        whole, at = Decimator(rate, times, 1)(wave, stamps)
        pieces = Decimator(rate, times, 1)
        cuts = np.cumsum(np.random.default_rng(hz).integers(1, 90, 400))
        parts = [pieces(w, s) for w, s in zip(np.split(wave, cuts, 1), np.split(stamps, cuts), strict=True)]
        assert np.allclose(np.concatenate([p for p, _ in parts], axis=1), whole, atol=1e-12)
        assert np.array_equal(np.concatenate([s for _, s in parts]), at)
        assert np.allclose(np.diff(at), 1 / 250)
        out[hz] = (whole[0, 50:], np.sin(2 * np.pi * hz * at)[50:])
    for hz in (3, 40, 88):  # at the time it carries, every sample is what was there: no shift, no loss
        assert np.abs(out[hz][0] - out[hz][1]).max() < 0.005
    for hz in (165, 240):  # would fold to 85 and 10 Hz
        assert np.abs(out[hz][0]).max() < 0.002
    assert Decimator(rate, times, 1).delay_s < 0.03


def test_old_names_units_and_a_map():
    amplifier = fitted(IMAGERY, THEIRS, ("volts",) * 64)
    assert amplifier.rows == list(range(64))
    assert any("T7 is T3" in text for text in amplifier.heard)
    eeg, _, _ = amplifier(np.full((64, 10), 2e-5), np.arange(10) / 250)
    assert np.allclose(eeg, 20)
    numbered = tuple(f"E{k}" for k in range(1, 65))
    wires = ",".join(f"{ours}=E{k}" for k, ours in enumerate(IMAGERY.channels, 1))
    assert fitted(IMAGERY, numbered, wiring=Wiring(wire_map(wires))).rows == list(range(64))
    none = fitted(IMAGERY, tuple(n for n in THEIRS if n != "ECG"), wiring=Wiring(wire_map("ECG=")))
    assert none(np.ones((63, 4)), np.arange(4.0))[0][IMAGERY.channels.index("ECG")].max() == 0
    for wiring, words in (
        (Wiring(), "has no channel Fpz"),
        (Wiring({"Fpz": "E99"}), "has no channel E99, which the map gives for Fpz"),
        (Wiring({"Nose": "E1"}), "the map names Nose"),
        (Wiring(unit="furlong"), "--unit furlong"),
    ):
        with pytest.raises(BadInput, match=words):
            fitted(IMAGERY, THEIRS if wiring.unit else numbered, wiring=wiring)
    with pytest.raises(BadInput, match="declares celsius"):
        fitted(IMAGERY, THEIRS, ("celsius",) * 64)
    with pytest.raises(BadInput, match="333 Hz; 250 Hz are needed, or a whole multiple"):
        fitted(IMAGERY, THEIRS, rate=333)


def test_an_amplitude_that_is_no_eeg_is_told():
    noise = np.random.default_rng(0).normal(0, 2e-5, (64, 600))
    for units, odd in (((), True), (("V",) * 64, False)):
        amplifier = fitted(IMAGERY, IMAGERY.channels, units)
        amplifier(noise, np.arange(600) / 250)
        assert any(text.startswith("amplitude: ") for text in amplifier.heard) is odd


def test_the_average_of_the_whole_cap_comes_before_rows_are_picked():
    rng = np.random.default_rng(1)
    data = rng.normal(0, 10, (64, 50)) + 500
    data[59:] = 1e5  # heart and eyes are no part of it
    amplifier = fitted(LIVENESS, IMAGERY.channels)
    eeg, _, _ = amplifier(data, np.arange(50) / 250)
    want = data[[IMAGERY.channels.index(n) for n in ("FZ", "Cz", "Oz", "C3", "C4")]] - data[:59].mean(axis=0)
    assert np.allclose(eeg, want)
    few = fitted(LIVENESS, LIVENESS.channels)
    assert np.array_equal(few(data[:5], np.arange(50) / 250)[0], data[:5])
    assert any("only 5 electrodes" in text for text in few.heard)


def test_rehab_blanks_cue_and_rest_however_the_stream_is_cut():
    (plan,) = timelines("rehab", "train", 1, 0, 1)
    whole, trigger = np.ones((1, plan.samples), np.float32), plan.trigger()
    simulated = whole.copy()
    finish(simulated, plan, draw_person(0, "people", 2))  # what the simulator blanks
    assert 0.3 < simulated.mean() < 0.9
    cuts = np.cumsum(np.random.default_rng(0).integers(1, 5000, 400))
    cuts, blank = cuts[cuts < plan.samples], Blank(REHAB)
    parts = zip(np.split(whole, cuts, 1), np.split(trigger, cuts), strict=True)
    assert np.array_equal(np.concatenate([blank(eeg, codes) for eeg, codes in parts], axis=1), simulated)
    resting = int(np.flatnonzero(trigger == 7)[0])
    assert simulated[0, resting : resting + 60 * REHAB.rate].all()  # outside trials: kept (R20)


class Headset:
    """A stream whose samples a test pushes at the times it says."""

    def __init__(self, name, book, rate=None, units="microvolts", channels=None):
        self.lsl, self.book, self.rate = need_lsl(), book, rate or book.rate
        channels = channels or book.channels
        info = self.lsl.StreamInfo(name, "EEG", len(channels), self.rate, "float32", name)
        info.set_channel_names(list(channels))
        info.set_channel_units(units)
        self.outlet, self.codes = self.lsl.StreamOutlet(info, max_buffered=60), CodesOut(name)
        self.begin_s = self.lsl.local_clock() - 60  # in the past: nobody waits for them
        self.sent = 0

    def push(self, eeg, first_s):
        for k in range(0, eeg.shape[1], 50):
            part = eeg[:, k : k + 50]
            last_s = self.begin_s + first_s + (k + part.shape[1] - 1) / self.rate
            self.outlet.push_chunk(np.ascontiguousarray(part.T, np.float32), last_s)

    def code(self, code, at_s):
        self.codes.push(code, self.begin_s + at_s)
        self.sent += 1

    def recorded(self, folder, source, samples):
        recorder = Recorder(folder, self.book, tell=lambda text: None)
        source.mark = recorder.mark
        # samples of the past are not held back for codes, which come on a line of their own
        wait_for(lambda: source._marks.samples_available >= self.sent, 20, "the codes have come")
        until = time.monotonic() + 20
        while recorder.samples < samples and time.monotonic() < until:
            recorder.add(*source.read())
        source.close()
        (block,) = open_recording(recorder.finish()).subjects[0].blocks
        (other,) = open_recording(folder / "bids").subjects[0].blocks
        assert block.digest == other.digest
        del self.outlet
        self.codes.close()
        return block


def test_a_stream_of_1000_hz_in_volts_with_old_names(tmp_path, name):
    headset = Headset(name, IMAGERY, 1000, "volts", THEIRS)
    source = LiveIn(name, IMAGERY, hold_s=0.5)
    at_s = np.arange(8000) / 1000
    wave = 30e-6 * np.sin(2 * np.pi * 10 * at_s) + 50e-6 * np.sin(2 * np.pi * 240 * at_s)
    for code, when_s in ((201, 1.0), (241, 3.0), (202, 4.1003), (241, 6.0)):
        headset.code(code, when_s)
    headset.push(np.tile(wave, (64, 1)), 0.0)
    block = headset.recorded(tmp_path / "r", source, 1980)
    assert [e.code for e in block.events] == [201, 241, 202, 241]
    assert not block.invalid
    for event, when_s in zip(block.events, (1.0, 3.0, 4.1003, 6.0), strict=True):
        assert abs(event.sample / 250 - when_s) < 0.0021  # half a sample: the filter's delay is not in it
        span = (event.sample + np.arange(50)) / 250
        assert np.abs(block.eeg[5, event.sample : event.sample + 50] - 30 * np.sin(2 * np.pi * 10 * span)).max() < 0.3
    side = json.loads(next((tmp_path / "r" / "bids").rglob("*_eeg.json")).read_text())
    assert side["invalid_trials"] == 0
    assert "1000 Hz, volts; low-pass to 250 Hz" in source.described


def test_a_pulled_cable_loses_codes_and_marks_trials(tmp_path, name):
    """Trials of 2 s, one every 3 s; no samples from 4.5 to 8.5 s: the second is cut, the third is lost."""
    headset = Headset(name, IMAGERY)
    heard = []
    source = LiveIn(name, IMAGERY, tell=heard.append, hold_s=0.5)
    eeg = np.random.default_rng(0).normal(0, 10, (64, 5000))
    eeg[0] = np.arange(5000)
    eeg[7, 3600:3610] = np.nan
    headset.push(eeg[:, :1125], 0.0)
    for k in range(5):
        headset.code(201 + k % 3, 1 + 3 * k)
        headset.code(241, 3 + 3 * k)
    headset.push(eeg[:, 2125:], 8.5)
    block = headset.recorded(tmp_path / "r", source, 4000)
    assert np.array_equal(block.eeg[0], np.delete(eeg[0], np.s_[1125:2125]))  # nothing filled in
    for event in block.events:  # every code that has a sample stands on the right one
        assert (block.eeg[0, event.sample] / 250 - 1) % 3 in (0.0, 2.0)
    opened = {int(block.eeg[0, e.sample]): e.sample for e in block.events if e.code in IMAGERY.opens}
    assert sorted(opened) == [250, 1000, 2500, 3250]  # 1750 is lost
    assert [e.code for e in block.events] == [201, 241, 202, 241, 201, 241, 202, 241]
    assert block.invalid == {
        opened[1000]: "1000 samples were lost at 4.500 s",
        opened[3250]: f"{IMAGERY.channels[7]} gave no numbers",
    }
    assert np.isfinite(block.eeg).all()
    assert source.lost_codes == 2  # 241 of the second and 203, which opened the third
    table = next((tmp_path / "r" / "bids").rglob("*_events.tsv")).read_text()
    assert table.count("\tn/a\tfalse\tcode ") == 2
    assert any(f"no numbers from {IMAGERY.channels[7]} at " in text for text in heard)


def test_time_stamps_that_jitter_are_no_gaps(tmp_path, name):
    headset = Headset(name, IMAGERY)
    source = LiveIn(name, IMAGERY, tell=lambda text: None, hold_s=0.5)
    rng, eeg = np.random.default_rng(0), np.random.default_rng(1).normal(0, 10, (64, 5000))
    for k in range(100):  # 50 samples at once, stamped up to 16 ms late; after 80 of them 0.4 s are lost
        headset.push(eeg[:, 50 * k : 50 * k + 50], 0.2 * k + 0.4 * (k >= 80) + rng.uniform(0, 0.016))
    headset.code(201, 10.0)
    headset.code(241, 12.0)
    headset.code(202, 15.0)  # the gap is at 16 s
    headset.code(241, 17.0)
    block = headset.recorded(tmp_path / "r", source, 5000)
    opened = {e.code: e.sample for e in block.events if e.code in IMAGERY.opens}
    assert list(block.invalid) == [opened[202]]


@pytest.mark.parametrize("leap_s", [-3.0, 500.0])
def test_after_a_clock_that_jumped_no_trial_is_trusted(tmp_path, name, leap_s):
    headset = Headset(name, IMAGERY)
    heard = []
    source = LiveIn(name, IMAGERY, tell=heard.append, hold_s=-1000.0)
    eeg = np.random.default_rng(0).normal(0, 10, (64, 4000))
    headset.code(201, 1.0)
    headset.code(241, 2.0)
    headset.push(eeg[:, :1000], 0.0)
    headset.push(eeg[:, 1000:], 4.0 + leap_s)
    headset.code(202, 4.5)  # the page's own clock goes on as before
    headset.code(241, 6.0)
    block = headset.recorded(tmp_path / "r", source, 4000)
    why = f"the amplifier's clock jumped by {leap_s:+.3f} s at 4.000 s"
    opened = {e.sample: e.code for e in block.events if e.code in IMAGERY.opens}
    assert opened[250] == 201
    assert {at: why for at in opened if at > 250} == block.invalid
    assert len(opened) + source.lost_codes // 2 == 2  # placed by a wrong clock and marked, or lost
    assert any(why in text for text in heard)
    assert source.lost_n == 0


def test_a_code_of_the_stage_voids_its_own_trial_only(tmp_path):
    recorder = Recorder(tmp_path / "r", IMAGERY, tell=lambda text: None)
    codes = np.zeros(4000, int)
    codes[[100, 1000, 1100, 1500, 2000, 2600, 2700, 3500]] = [201, 241, 202, 244, 203, 241, 244, 243]
    recorder.add(np.ones((64, 4000)), codes)
    (block,) = open_recording(recorder.finish()).subjects[0].blocks
    assert block.invalid == {1100: "void by the stimulus page at 6.000 s"}  # 2700: a cue that was void, no trial yet
