"""@rehab and its baseline on simulated patients, trained and played by the real commands."""

import pytest

from tests.contests.imagery.test_entries import arena, played


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rehab")
    # Two to learn from, the first of them to play: 1000 Hz and 77 channels take their time.
    for part, count in (("train", 2), ("test", 1)):
        done = arena("simulate", "rehab", "--out", folder / part, "--split", part, "--subjects", count, "--seed", 11)
        assert done.returncode == 0, done.stderr
    return folder


def test_side_is_found_and_points_beat_a_coin(patients, tmp_path):
    score = played("@rehab", patients / "train", patients / "test", tmp_path)
    assert score["verdict"] == "ok"
    assert len(score["trials"]) == 80
    assert score["metrics"]["side_accuracy"] > 0.95
    assert score["metrics"]["mean_points"] > 75  # the side and a coin flip
    assert all(trial["status"] == "in_time" for trial in score["trials"])


def test_baseline_answers_every_trial(patients, tmp_path):
    score = played("@rehab-baseline", patients / "train", patients / "test", tmp_path)
    assert score["verdict"] == "ok"
    assert all(trial["status"] == "in_time" for trial in score["trials"])
    assert score["metrics"]["mean_points"] > 50
