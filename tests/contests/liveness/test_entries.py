"""Both liveness entries learn and play through the command line, on a made-up contest of four people."""

import json
import shutil

import numpy as np
import pytest

from bciarena.cli import main as arena
from bciarena.contests import rulebook
from bciarena.recording import write_contest
from tests.realdata import real_data

BOOK = rulebook("liveness")
PEOPLE = (1, 2, 3, 4)


def _trial(subject, kind, length_n, rng):
    """A rhythm of the person's own in noise; real ones (kind 2 eyes open, 3 closed) wax and wane, blink, bend."""
    t_s = np.arange(length_n) / 250
    slow = np.cumsum(rng.standard_normal((5, length_n)), axis=1)
    slow -= np.linspace(slow[:, 0], slow[:, -1], length_n).T
    gain = np.exp(np.sin(2 * np.pi * 0.7 * t_s + rng.uniform(0, 7))) if kind else np.full(length_n, 1.27)
    phase = 2 * np.pi * (6 + 2 * subject) * t_s + rng.uniform(0, 7)
    channels = (1 + (np.arange(5) + subject) % 5)[:, None] * (2 if kind == 3 else 1)
    return 3 * rng.standard_normal((5, length_n)) + 0.5 * slow + channels * np.sin(phase) * gain


def _set(folder, kinds, blocks, seed):
    rng = np.random.default_rng(seed)
    for block in range(1, blocks + 1):
        data, codes = [np.zeros((5, 60))], [(20, 242)]
        position = 60
        for index in range(24):
            subject, kind = PEOPLE[index % 4], kinds[(index // 4) % len(kinds)]
            length_n, gap_n = int(rng.integers(1050, 1500)), int(rng.integers(125, 300))
            codes += [(position, subject + 64 * kind), (position + length_n, 241)]
            data += [_trial(subject, kind, length_n, rng), np.zeros((5, gap_n))]
            position += length_n + gap_n
        trigger = np.zeros((1, position))
        for sample, code in codes:
            trigger[0, sample] = code
        trigger[0, -1] = 243
        stacked = np.concatenate([np.concatenate(data, axis=1), trigger]).astype(np.float32)
        write_contest(folder / "S01" / f"block_{block}.npz", stacked, BOOK.rate, BOOK.channels)


@pytest.fixture(scope="module")
def contest(tmp_path_factory):
    place = tmp_path_factory.mktemp("liveness")
    _set(place / "train" / "cali_train", (2, 3), 1, seed=1)
    _set(place / "train" / "cali_A", (2, 3), 1, seed=2)
    _set(place / "train" / "eval_train", (0, 2, 0, 3), 1, seed=3)
    _set(place / "eval_A", (0, 2, 0, 3), 1, seed=4)
    return place


@pytest.mark.parametrize("name", ["@liveness", "@liveness-baseline"])
def test_learns_plays_and_scores(contest, name, capsys):
    model = contest / f"model{name}"
    assert arena(["train", name, "--data", str(contest / "train"), "--out", str(model), "--sandbox", "none"]) == 0
    files = {path.name for path in model.iterdir()}
    assert files
    capsys.readouterr()
    played = ["run", name, "--model", str(model), "--data", str(contest / "eval_A"), "--sandbox", "none", "--json"]
    assert arena(played) == 0
    score = json.loads(capsys.readouterr().out)
    assert score["verdict"] == "ok"
    assert score["metrics"]["accuracy_subject"] > 0.85
    assert score["metrics"]["accuracy_real"] > 0.7
    assert {trial["status"] for trial in score["trials"]} == {"in_time"}
    assert min(trial["length_s"] for trial in score["trials"]) == 3.0


def test_a_folder_without_calibration_is_refused(contest, tmp_path, capsys):
    train = ["train", "@liveness", "--data", str(contest / "eval_A"), "--out", str(tmp_path / "m"), "--sandbox", "none"]
    assert arena(train) == 2
    assert "needs cali_train, eval_train and cali_A" in capsys.readouterr().err


def test_the_baseline_on_real_people_is_past_the_best_peer(tmp_path, capsys):
    real = real_data("liveness")
    for name in ("cali_train", "eval_train", "cali_A"):
        shutil.copytree(real / name, tmp_path / "train" / name)
    model = str(tmp_path / "model")
    name = "@liveness-baseline"
    assert arena(["train", name, "--data", str(tmp_path / "train"), "--out", model, "--sandbox", "none"]) == 0
    capsys.readouterr()
    played = ["run", name, "--model", model, "--data", str(real / "eval_A"), "--sandbox", "none", "--json"]
    assert arena(played) == 0
    assert json.loads(capsys.readouterr().out)["score"] > 9.7
