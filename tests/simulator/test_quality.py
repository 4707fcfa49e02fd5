"""The quality page measures recordings, made or real, and says so when they are not like EEG."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bciarena.cli import main
from bciarena.errors import BadInput
from bciarena.recording import Block, Recording, Subject, open_recording
from bciarena.recording.montages import CAP64
from bciarena.simulator.make import Order, make, recordings
from bciarena.simulator.quality import measure
from bciarena.simulator.quality_page import quality_html, write_quality


def made(challenge, split, **more):
    subjects = {}
    for subject, timeline, eeg in recordings(Order(challenge, split, **more)):
        block = Block(eeg, timeline.trigger(), timeline.rate, CAP64)
        subjects.setdefault(subject, []).append(block)
    return Recording(tuple(Subject(f"S{k:02d}", tuple(blocks)) for k, blocks in subjects.items()))


def test_flicker_measures_are_inside_and_shown():
    found = measure(made("speller", "test", subjects=2, blocks=1, seed=4), "speller")
    assert all(item.inside for item in found.measures), [item for item in found.measures if not item.inside]
    assert {item.name for item in found.measures} >= {"flicker_delay"}
    page = quality_html(found)
    for word in ("Topographies", "Spectra", "Flicker response", "Chen 2015", "data:image/png"):
        assert word in page
    assert "http" not in page  # nothing is fetched


NAMES = {  # of things and people
    *"EEG ERD ECG JFPM BUPT VEOU HEOR Fpz eegmmidb alpha English".split(),
    *"Donoghue Nakanishi Pfurtscheller Haegens Barry Wang Chen".split(),
}


@pytest.mark.parametrize(
    ("challenge", "split"),
    [("imagery", "test"), ("turing", "test"), ("speller", "test"), ("rehab", "test"), ("liveness", "eval_A")],
)
def test_the_chinese_page_has_no_english_left(challenge, split, tmp_path):
    make(Order(challenge, split, None if challenge == "liveness" else 1, 1, seed=4, deep=False), tmp_path / "set")
    write_quality(tmp_path / "set", challenge)
    page = (tmp_path / "set" / "quality.zh.html").read_text("utf-8")
    told = " ".join(re.findall('aria-label="([^"]*)"', page))
    said = re.sub("(?s)<style>.*?</style>|<[^>]*>", " ", page)
    assert set(re.findall("[A-Za-z]{3,}", told + said)) - {*NAMES, challenge} == set()
    assert "quality.zh.html" in (tmp_path / "set" / "quality.html").read_text("utf-8")


def test_noise_is_recognised_as_noise():
    rng = np.random.default_rng(0)
    real = made("speller", "test", subjects=1, blocks=1, seed=4).subjects[0].blocks[0]
    noise = Block(rng.standard_normal(real.eeg.shape).astype(np.float32), real.trigger_row, 250, CAP64)
    outside = {
        item.name for item in measure(Recording((Subject("S01", (noise,)),)), "speller").measures if not item.inside
    }
    assert "exponent" in outside
    assert "flicker_snr" in outside


def test_real_people_go_through_the_same_measures(shared_data):
    found = measure(open_recording(shared_data("imagery/train")), "imagery")
    inside = {item.name: item.inside for item in found.measures}
    assert inside["mu_difference"]
    assert inside["size"]


def test_command_writes_the_page(tmp_path, capsys):
    out = tmp_path / "set"
    words = ["simulate", "imagery", "--subjects", "1", "--blocks", "1", "--seed", "4", "--format", "bids", "--figures"]
    assert main([*words, "--out", str(out)]) == 0
    assert "quality page" in capsys.readouterr().out
    text = (out / "quality.html").read_text("utf-8")
    assert "Change of power around imagery" in text
    assert "quality.html" in (out / ".bidsignore").read_text().split()
    assert len(open_recording(out).subjects) == 1


def test_a_page_that_cannot_be_written_is_told_and_leaves_nothing(tmp_path):
    make(Order("liveness", "cali_A", subjects=1, blocks=1), tmp_path / "set")
    (tmp_path / "set" / "quality.html").mkdir()
    with pytest.raises(BadInput, match="cannot be written"):
        write_quality(tmp_path / "set", "liveness")
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["S01", "quality.html"]


def test_dead_channels_are_left_out_of_the_maps():
    recording = made("imagery", "test", subjects=2, blocks=1, seed=4)
    alive = measure(recording, "imagery").maps["map_alpha"]
    for subject in recording.subjects:
        subject.blocks[0].eeg[3] = 0
    found = measure(recording, "imagery")
    for values in found.maps.values():
        assert np.isnan(values[3])
        assert np.isfinite(np.delete(values, 3)).all()
    assert np.abs(np.delete(found.maps["map_alpha"] - alive, 3)).max() < 1.0
    assert "recorded nothing" in quality_html(found)
