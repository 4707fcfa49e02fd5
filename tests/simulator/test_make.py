"""Sets on disk: bytes that repeat, layouts that open, and nothing half-made when something goes wrong."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.contests.rehab.brain import dead_channels
from bciarena.errors import BadInput
from bciarena.protocol import timelines
from bciarena.recording import open_recording
from bciarena.simulator import Order, make
from bciarena.simulator.eeg import Cap, Sitting
from bciarena.simulator.person import draw_person, on_day


def arena(*words: str, **more) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from bciarena.cli import run; run()", "simulate", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_same_seed_same_bytes_whatever_else_is_made(tmp_path):
    make(Order("imagery", "test", subjects=1, blocks=1, seed=7), tmp_path / "one")
    make(Order("imagery/1", "test", subjects=2, blocks=1, seed=7), tmp_path / "two")
    make(Order("imagery", "test", subjects=1, blocks=1, seed=8), tmp_path / "other")
    one, two, other = (contents(tmp_path / name) for name in ("one", "two", "other"))
    assert list(one) == ["S01/block_1.npz"]
    assert one["S01/block_1.npz"] == two["S01/block_1.npz"]
    assert one["S01/block_1.npz"] != two["S02/block_1.npz"]
    assert one["S01/block_1.npz"] != other["S01/block_1.npz"]


def test_contest_layout_opens_mapped_and_holds_the_truth(tmp_path):
    summary = make(Order("imagery", "train", subjects=1, blocks=2, seed=1), tmp_path / "set")
    recording = open_recording(tmp_path / "set")
    blocks = recording.subjects[0].blocks
    assert len(blocks) == 2
    for block, timeline in zip(blocks, timelines("imagery", "train", 1, 1, 2), strict=True):
        assert isinstance(block.eeg, np.memmap)
        assert block.eeg.dtype == np.float32
        assert block.channels == rulebook("imagery").channels
        assert tuple(block.events) == timeline.events
    assert summary.trials == {"201": 20, "202": 20, "203": 20}
    assert len(recording.digest) == 64  # every sample is finite


def test_r20_rehab_is_zero_in_cue_and_rest_of_trials_and_nowhere_else(tmp_path):
    make(Order("rehab", "train", subjects=1, blocks=1, seed=1), tmp_path / "set")
    block = open_recording(tmp_path / "set").subjects[0].blocks[0]
    assert [code for _, code in block.events][:4] == [250, 7, 8, 242]  # resting recordings lead the session
    keep = np.zeros(block.samples, dtype=bool)
    for at, code in block.events:
        if code in (2, 4, 1, 3):
            keep[at : at + 4000] = True
    assert keep.sum() == 40 * 4000
    first, over = (next(at for at, code in block.events if code == wanted) for wanted in (240, 243))
    keep[:first] = keep[over:] = True  # outside trials
    assert not block.eeg[:, ~keep].any()
    assert block.eeg[0][keep].all()
    assert np.count_nonzero(block.eeg[:, keep].std(axis=1)) >= 70  # a dead channel or two may be there
    assert block.eeg.shape[0] == 77


def test_some_rehab_subjects_have_dead_channels():
    counts = [len(dead_channels(draw_person(1, "people", number), 77)) for number in range(200)]
    assert set(counts) == {0, 1, 2, 3}
    assert np.mean(np.array(counts) > 0) == pytest.approx(0.15, abs=0.08)


def test_bids_opens_in_mne_without_a_warning(tmp_path):
    mne_bids = pytest.importorskip("mne_bids")
    make(Order("imagery", "test", subjects=2, blocks=1, seed=3, format="bids"), tmp_path / "bids")
    make(Order("imagery", "test", subjects=2, blocks=1, seed=3), tmp_path / "contest")
    found = mne_bids.find_matching_paths(tmp_path / "bids", extensions=".vhdr")
    assert [path.subject for path in found] == ["01", "02"]
    for path in found:
        assert mne_bids.BIDSPath(
            **path.entities, root=path.root, suffix="eeg", extension=".vhdr", datatype="eeg"
        ).fpath.is_file()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raw = mne_bids.read_raw_bids(found[0], verbose="error")
    own = open_recording(tmp_path / "contest").subjects[0].blocks[0]
    assert np.allclose(raw.get_data() * 1e6, own.eeg, atol=1e-3)
    assert open_recording(tmp_path / "bids").subjects[0].blocks[0].events == own.events


def test_same_person_in_training_and_test_yet_another_day():
    usual = draw_person(5, "people", 2)
    train, test = on_day(usual, "imagery-train"), on_day(usual, "imagery-test")
    assert train.key == test.key
    assert train["alpha_hz"] != test["alpha_hz"]
    others = [draw_person(5, "people", number)["alpha_hz"] for number in range(3, 60)]
    assert abs(train["alpha_hz"] - test["alpha_hz"]) < 0.5 * np.std(others) * 3
    assert draw_person(5, "people", 2) == usual


def test_two_hundred_times_faster_than_real_time():
    book = rulebook("imagery")
    sitting = Sitting(draw_person(1, "people", 1), "one", Cap(book.channels, "CPz"))
    timeline = timelines("imagery", "train")[0]
    best = np.inf
    for _ in range(3):
        begun = time.process_time()
        sitting.record(timeline, np.random.default_rng(1))
        best = min(best, time.process_time() - begun)
    assert timeline.duration_s / best > 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("imagery", "--subjects", "0"), "--subjects 0"),
        (("imagery", "--subjects", "-2"), "--subjects -2"),
        (("imagery", "--blocks", "0"), "--blocks 0"),
        (("imagery", "--seed", "-1"), "--seed -1"),
        (("imagery", "--seed", "guess"), "--seed guess"),
        (("imagery", "--split", "cali_A"), "unknown split 'cali_A'"),
        (("liveness", "--subjects", "24"), "1 to 23"),
        (("imagery", "--format", "gdf"), "'gdf'"),
        (("poker",), "unknown challenge"),
    ],
)
def test_wrong_use_is_one_line_and_leaves_nothing(tmp_path, capsys, words, message):
    assert main(["simulate", *words, "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_left_alone_unless_forced(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("keep")
    with pytest.raises(BadInput, match="not empty"):
        make(Order("imagery", "test", subjects=1, blocks=1), out)
    assert contents(out) == {"mine": b"keep"}
    make(Order("imagery", "test", subjects=1, blocks=1), out, force=True)
    assert list(contents(out)) == ["S01/block_1.npz"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_unwritable_folder_is_told(tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")
    assert main(["simulate", "imagery", "--subjects", "1", "--out", str(tmp_path / "file" / "out")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert contents(tmp_path) == {"file": b"no folder"}


def test_a_disk_that_is_full_leaves_nothing(tmp_path):
    # The limit on a file's size stands in for the disk: the write fails half-way in the same place.
    done = arena(
        "imagery", "--subjects", "1", "--blocks", "1", "--out", str(tmp_path / "out"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_the_subjects(tmp_path):
    def peak_mb(subjects: int) -> float:
        words = [
            "simulate",
            "imagery",
            "--subjects",
            str(subjects),
            "--blocks",
            "1",
            "--out",
            str(tmp_path / str(subjects)),
        ]
        text = (
            f"import resource; from bciarena.cli import main; assert main({words!r}) == 0; "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
        )
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=300)
        return float(done.stdout.split()[-1])

    # A block is 15 MB: kept, six would be 75 MB more than one.
    assert peak_mb(6) - peak_mb(1) < 20


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ended_half_way_it_leaves_nothing(tmp_path, how):
    words = ["simulate", "imagery", "--subjects", "50", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", "from bciarena.cli import run; run()", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob(".out.*.part/S01/block_1.npz")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(how)
        told = process.communicate(timeout=60)[1]
    assert process.returncode not in (0, 3)
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []


def test_json_summary(tmp_path):
    done = arena(
        "speller/1", "--subjects", "1", "--blocks", "1", "--seed", "2", "--out", str(tmp_path / "out"), "--json"
    )
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    assert summary["challenge"] == "speller/1"
    assert sum(summary["trials"].values()) == 60
    assert 40 <= sum(n for truth, n in summary["trials"].items() if int(truth) <= 40) <= 45


def test_a_secret_seed_is_drawn_printed_once_and_written_nowhere(tmp_path, capsys):
    words = ["imagery", "--subjects", "1", "--blocks", "1", "--seed", "secret", "--format", "bids", "--json"]
    seeds = []
    for name in ("one", "two"):
        assert main(["simulate", *words, "--out", str(tmp_path / name)]) == 0
        seeds.append(json.loads(capsys.readouterr().out)["seed"])
        texts = [path.read_bytes() for path in (tmp_path / name).rglob("*") if path.is_file()]
        assert not any(str(seeds[-1]).encode() in text for text in texts)
    assert seeds[0] != seeds[1]
    assert all(2**64 <= seed < 2**128 for seed in seeds)
