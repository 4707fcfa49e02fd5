"""@imagery and its baseline, trained and played by the real commands."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.realdata import real_data

ARENA = Path(sys.executable).with_name("arena")


def arena(*args):
    return subprocess.run([ARENA, *map(str, args)], capture_output=True, text=True, timeout=900, check=False)


def played(entry, train, test, out):
    """Train and run; the score file's content."""
    done = arena("train", entry, "--data", train, "--out", out / "model", "--sandbox", "none")
    assert done.returncode == 0, done.stderr
    done = arena("run", entry, "--model", out / "model", "--data", test, "--out", out / "run", "--sandbox", "none")
    assert done.returncode == 0, done.stderr
    return json.loads((out / "run" / "score.json").read_text())


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Two people of the real set: enough to see it work, quick enough for every test run."""
    folder = tmp_path_factory.mktemp("imagery")
    for part in ("train", "test"):
        (folder / part).mkdir()
        for number, name in enumerate(("S02", "S03"), 1):
            (folder / part / f"S{number:02d}").symlink_to(real_data("imagery") / part / name)
    return folder


def test_beats_the_mark_on_real_people(people, tmp_path):
    score = played("@imagery", people / "train", people / "test", tmp_path)
    assert score["verdict"] == "ok"
    assert score["score"] > 16  # bits/min wanted of people kept back; these two are easier than most
    assert all(trial["status"] == "in_time" for trial in score["trials"])


def test_a_person_it_never_met_is_still_played(people, tmp_path):
    """Trained on the second person alone, numbered 1; played to both, so that number 2 is a stranger."""
    one = tmp_path / "one"
    one.mkdir()
    (one / "S01").symlink_to((people / "train" / "S02").resolve())
    score = played("@imagery", one, people / "test", tmp_path)
    assert score["verdict"] == "ok"
    assert len(score["trials"]) == 42
    assert all(trial["status"] == "in_time" for trial in score["trials"])


def test_baseline_answers_every_trial(people, tmp_path):
    score = played("@imagery-baseline", people / "train", people / "test", tmp_path)
    assert score["verdict"] == "ok"
    assert score["metrics"]["mean_length_s"] == pytest.approx(1.48)
    assert score["metrics"]["accuracy"] > 0.4


@pytest.mark.parametrize(("seed", "least"), [(3, 0.4), (70411, 0.34)])
def test_baseline_holds_on_another_day(seed, least, tmp_path):
    """CSP without shrinkage takes near-noise directions that move between days: one answer for nearly every trial.

    Without shrinkage both people of seed 3 get one answer in 60 of 60 trials (.33; with it .44). Seed 70411 was drawn
    after the shrinkage was chosen: its first person gets one answer in 55 trials without, 30 with shrinkage (.41 both).
    """
    for part in ("train", "test"):
        done = arena("simulate", "imagery", "--out", tmp_path / part, "--split", part, "--subjects", 2, "--seed", seed)
        assert done.returncode == 0, done.stderr
    score = played("@imagery-baseline", tmp_path / "train", tmp_path / "test", tmp_path)
    assert score["metrics"]["accuracy"] > least
    for subject in (1, 2):
        answers = Counter(trial["answer"] for trial in score["trials"] if trial["subject"] == subject)
        assert max(answers.values()) < 45, answers  # of 60 trials, 20 of each class


def test_training_on_a_test_stream_says_so(tmp_path):
    simulated = arena("simulate", "speller", "--out", tmp_path / "wrong", "--subjects", 1, "--blocks", 1)
    assert simulated.returncode == 0, simulated.stderr
    done = arena("train", "@imagery", "--data", tmp_path / "wrong", "--out", tmp_path / "model", "--sandbox", "none")
    assert done.returncode != 0
    assert "they fit speller" in done.stderr
