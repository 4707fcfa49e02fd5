"""The turing entries through the command line, on a made-up subject with clear flicker and clear imagery."""

import json

import numpy as np
import pytest

from bciarena.cli import main as arena
from bciarena.contests import rulebook
from bciarena.contests.turing.rules import BEHAVIOURS, SSVEP_HZ
from bciarena.recording import write_contest

BOOK = rulebook("turing")
OCCIPITAL = [42, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58]
LEFT_HAND, RIGHT_HAND = [29, 31, 37], [28, 30, 36]  # C4, C6, CP4 over the right half; C3, C5, CP3 over the left


def recording(seed, tasks):
    """A block of (behaviour, task) trials: 3 s cue, 5 s task, 5 s pause."""
    rng = np.random.default_rng(seed)
    n = 500 + 3250 * len(tasks)
    data = np.zeros((65, n), np.float32)
    slow = rng.standard_normal((59, n)).cumsum(axis=1)
    data[:59] = 3 * rng.standard_normal((59, n)) + 0.1 * (slow - np.linspace(0, 1, n) * slow[:, -1:])
    t = np.arange(n) / 250
    mu = np.ones((59, n))
    for i, (behaviour, task) in enumerate(tasks):
        onset = 500 + 3250 * i + 750
        data[-1, onset - 750], data[-1, onset], data[-1, onset + 1250] = 240, (behaviour << 3) + task, 241
        span = slice(onset + 35, onset + 1285)
        if task in SSVEP_HZ:
            angle = 2 * np.pi * SSVEP_HZ[task] * (np.arange(1250) / 250)
            data[OCCIPITAL, span] += (1.5 * np.sin(angle + 0.4) + 0.7 * np.sin(2 * angle + 1)).astype(np.float32)
        elif task in (1, 2):
            mu[LEFT_HAND if task == 1 else RIGHT_HAND, span] = 0.25
    wave = 6 * np.sin(2 * np.pi * 11 * t + np.cumsum(0.15 * rng.standard_normal(n)))
    data[LEFT_HAND + RIGHT_HAND] += (mu[LEFT_HAND + RIGHT_HAND] * wave).astype(np.float32)
    data[-1, 0], data[-1, -1] = 242, 243
    return data


@pytest.fixture(scope="module")
def contest(tmp_path_factory):
    place = tmp_path_factory.mktemp("turing")
    rng = np.random.default_rng(0)
    for b in (1, 2, 3):
        # R21: no behaviour, as Table 2 allows (9 left, 34 right), a reserved one: in training only the task is read
        behaviours = {1: (0, 0), 2: (1, 4), 3: (12, 12)}[b]
        tasks = [(behaviours[k - 1], int(k)) for k in rng.permutation([1, 2] * 6)]
        write_contest(place / "train" / "S01" / f"block_{b}.npz", recording(b, tasks), BOOK.rate, BOOK.channels)
    for b in (1, 2):
        chosen = [int(rng.integers(1, 10)) for _ in range(14)]
        tasks = [(c, int(rng.choice(BEHAVIOURS[c][2]))) for c in chosen]
        write_contest(place / "test" / "S01" / f"block_{b}.npz", recording(10 + b, tasks), BOOK.rate, BOOK.channels)
    return place


def test_learns_and_plays(contest, capsys):
    model = contest / "model"
    learn = ["train", "@turing", "--data", str(contest / "train"), "--out", str(model), "--sandbox", "none"]
    assert arena(learn) == 0
    capsys.readouterr()
    play = ["run", "@turing", "--model", str(model), "--data", str(contest / "test"), "--sandbox", "none", "--json"]
    assert arena(play) == 0
    score = json.loads(capsys.readouterr().out)
    assert score["verdict"] == "ok"
    assert score["metrics"]["accuracy"] > 0.8
    assert score["score"] > 40
    flicker = [trial for trial in score["trials"] if trial["truth"] in "3456"]
    assert np.mean([trial["correct"] for trial in flicker]) > 0.85
    assert not [note for note in score["notes"] if "violation" in note]


def test_only_possible_tasks_are_answered(contest, capsys):
    play = ["run", "@turing-baseline", "--data", str(contest / "test"), "--sandbox", "none", "--json"]
    assert arena(play) == 0
    score = json.loads(capsys.readouterr().out)
    assert score["verdict"] == "ok"
    assert {trial["status"] for trial in score["trials"]} <= {"in_time", "after_target"}
    assert score["metrics"]["accuracy"] > 0.4


@pytest.mark.parametrize("box", ["none", "bwrap"])
def test_a_test_set_is_no_training_set(tmp_path, capsys, box):
    data = recording(1, [(5, 5), (5, 7)])
    write_contest(tmp_path / "S01" / "block_1.npz", data, BOOK.rate, BOOK.channels)
    assert arena(["train", "@turing", "--data", str(tmp_path), "--out", str(tmp_path / "m"), "--sandbox", box]) == 2
    said = capsys.readouterr().err
    assert "the entry's training refused this data" in said
    assert f"{tmp_path / 'S01' / 'block_1.npz'}: no left and right imagery" in said
    assert "Traceback" not in said
    assert not (tmp_path / "m").exists()
