"""The contests in examples/ are really played: none of them is known to the platform."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from bciarena.cli import main as arena
from bciarena.contest_folders import check_folder
from bciarena.contests import rulebook
from bciarena.contests.trial import Trial
from bciarena.recording.model import Block, Recording, Subject
from bciarena.referee import Truth, judge

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.usefixtures("forgetful")


def play(name, tmp_path, entry, *more, split="test", subjects=1):
    folder, data, run = EXAMPLES / name, tmp_path / "data", tmp_path / "run"
    assert arena(["simulate", str(folder), "--split", split, "--subjects", str(subjects), "--blocks", "1",
                  "--out", str(data)]) == 0  # fmt: skip
    order = ["run", str(entry), "--challenge", str(folder), "--data", str(data), "--out", str(run), *more]
    assert arena(order) == 0
    assert arena(["score", str(run), "--challenge", str(folder)]) == 0
    return json.loads((run / "score.json").read_text())


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_nothing_is_wrong_with_an_example(name):
    assert [one for one in check_folder(EXAMPLES / name) if one.problem] == []


def test_a_package_of_2021_plays_the_synchronous_contest(tmp_path):
    """Written for Python 3.8 with the names of the year, played boxed in it."""
    score = play("ssvep2021", tmp_path, EXAMPLES / "ssvep2021" / "starter")
    assert score["metrics"]["mean_length_s"] == pytest.approx(2.16, abs=0.05)
    assert score["metrics"]["accuracy"] > 0.5
    assert {trial["status"] for trial in score["trials"]} == {"in_time"}


def test_imagery_as_2022_counts_it(tmp_path):
    score = play("imagery2022", tmp_path, EXAMPLES / "imagery2022" / "starter")
    assert score["metrics"]["mean_length_s"] > 2.5  # 625 samples after the trigger's packet, counted from its sample


def test_2022_counts_from_the_trigger_and_gives_nothing_for_a_third():
    book = rulebook(str(EXAMPLES / "imagery2022"))
    trigger = np.zeros(4000)
    trigger[[1003, 2500]] = 201, 202
    eeg = np.broadcast_to(np.float32(0), (len(book.channels), 4000))
    truth = Truth.of(book, Recording((Subject("S01", (Block(eeg, trigger, 250, book.channels),)),)))
    report = {"subject": 1, "block": 1, "position": 1510, "packet": 151, "value": 201, "think_s": 0.0}
    first, second = judge(book, truth, [report]).trials
    assert first.length_s == pytest.approx((1510 - 1003) / 250)
    assert second.length_s == 5.0
    late = judge(book, truth, [{**report, "position": 2260}]).trials[0]  # 1257 samples: 5.03 s
    assert late.status == "late"
    a_third = [Trial(1, 1, n, "201", "201" if n == 1 else "202", n == 1, 250, "in_time", 250) for n in (1, 2, 3)]
    assert book.score(a_third).score == 0
    assert rulebook("imagery").score(a_third).score == 0  # the formula itself gives 0 there
    most = [*a_third[:1], *a_third[:1], *a_third[1:2]]
    assert book.score(most).score > 0


def test_an_oddball_contest_is_learnt_and_played(tmp_path):
    folder = EXAMPLES / "oddball"
    train, model = tmp_path / "train", tmp_path / "model"
    assert arena(["simulate", str(folder), "--split", "train", "--subjects", "1", "--out", str(train)]) == 0
    order = ["train", "@oddball-baseline", "--challenge", str(folder), "--data", str(train), "--out", str(model)]
    assert arena(order) == 0
    score = play("oddball", tmp_path, "@oddball-baseline", "--model", str(model))
    assert score["unit"] == "lights/min"
    assert score["metrics"]["accuracy"] > 0.4  # six lights
    page = tmp_path / "report.html"
    assert arena(["report", str(tmp_path / "run"), "--challenge", str(folder), "-o", str(page)]) == 0
    assert "lights/min" in page.read_text("utf-8")


def zipped(folder, tmp_path):
    """A submission as it is uploaded: its files at the zip's root."""
    return Path(shutil.make_archive(str(tmp_path / "submission"), "zip", folder))


def test_a_submission_to_a_streamed_competition_plays_as_it_is(tmp_path):
    score = play("streamed", tmp_path, zipped(EXAMPLES / "streamed" / "submission", tmp_path), subjects=2)
    assert {trial["status"] for trial in score["trials"]} == {"in_time"}
    assert {trial["length_s"] for trial in score["trials"]} == {2.0}
    assert len(score["trials"]) == 24


STATEFUL = """
import numpy as np
import benchmark_utils
from compet_core.base_solver import CompetSolver


class Model:
    def __init__(self):
        self.count, self.resets = 0, 0

    def reset_state(self):
        self.resets += 1

    def predict(self, X):
        assert tuple(X.shape) == (1, 8, 500), X.shape
        self.count += 1
        assert self.resets == 1 and self.count <= 12
        scores = np.zeros((1, 3))
        scores[0, self.count % 3] = 1
        return scores


class Solver(CompetSolver):
    def load_model(self, meta):
        assert (meta["n_chans"], meta["n_times"], meta["n_classes"], meta["sfreq"]) == (8, 500, 3, 250.0)
        assert (meta["submission_dir"] / "submission.py").is_file()
        return Model()
"""


def test_every_stream_begins_with_a_fresh_model(tmp_path):
    folder = tmp_path / "stateful"
    folder.mkdir()
    (folder / "submission.py").write_text(STATEFUL)
    score = play("streamed", tmp_path, zipped(folder, tmp_path), subjects=2)
    answers = [trial["answer"] for trial in score["trials"]]
    assert answers == [str(n % 3) for n in range(1, 13)] * 2


def test_a_stream_is_scored_by_balanced_accuracy():
    book = rulebook(str(EXAMPLES / "streamed"))

    def window(n, truth, answer):
        return Trial(1, 1, n, truth, answer, truth == answer, 500, "in_time", 250)

    found = book.score([window(1, "0", "0"), window(2, "0", "0"), window(3, "0", "1"), window(4, "1", "2")])
    assert found.score == pytest.approx((2 / 3 + 0) / 2)
    assert found.metrics["accuracy"] == 0.5
