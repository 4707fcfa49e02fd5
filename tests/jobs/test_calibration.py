"""Entries that learn on the server: in the box, on what the organiser names, and as the result says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.jobs.calibration import checked
from bciarena.jobs.lease import Lease, Outcome
from bciarena.jobs.perform import perform
from bciarena.jobs.shards import enqueue_match
from bciarena.jobs.storage import Storage
from bciarena.runs import RunFolder, rescore
from tests.jobs.playing import imagery_data, match_payload

ENTRY = '''
import os
class Learns:
    """Says what it was trained on and what it is told; answers the class it saw most often."""

    def fit(self, recordings):
        print("SECRET in the output")
        codes = [int(c) for one in recordings for c in one.data[-1] if c]
        self.learnt = sorted({c for c in codes if c < 240 or c > 247})
        self.blocks = sorted((one.set, one.subject, one.block) for one in recordings)
        {more}

    def start(self, info):
        self.told = []
        if not hasattr(self, "learnt"):
            self.learnt, self.blocks = [], []
        print("learnt", self.learnt, len(self.blocks), "labels", info.get("labels_after", False), flush=True)

    def step(self, packet):
        codes = [int(c) for c in packet.data[-1] if c]
        self.told += [c for c in codes if 200 < c < 204]
        if 249 in codes:
            print("told", self.told, flush=True)
            return None
        if packet.number % 20 == 0:
            return (self.learnt + [202])[0]
'''


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return imagery_data(tmp_path / "data", subjects=2)


def entry(folder: Path, more: str = "pass", source: str = ENTRY) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "learns.py"
    path.write_text(source.replace("{more}", more))
    return path


def play(storage: Storage, data: Path, path: Path, calibration: dict[str, Any] | None) -> Outcome:
    payload = match_payload(storage, data, path, "Learns")
    if calibration is not None:
        payload["calibration"] = calibration
    return perform(Lease(0, 1, "match", payload), storage, lambda _: None)


def said(storage: Storage, outcome: Outcome) -> list[str]:
    assert outcome.run, outcome
    return storage.read(outcome.run, "stdout.txt").decode().splitlines()


def test_labelled_sets_are_learnt_and_the_model_is_kept(storage: Storage, tmp_path: Path, data: Path) -> None:
    sets = {"cali": storage.put(imagery_data(tmp_path / "cali", subjects=3))}
    path = entry(tmp_path / "entry")
    outcome = play(storage, data, path, {"mode": "labelled", "sets": sets, "blocks": 1})
    assert outcome.verdict == "ok", outcome
    assert said(storage, outcome)[0] == "learnt [201, 202, 203] 3 labels False", "one block of each of three people"
    used = outcome.result["calibration"]
    assert used | {"train_s": 0, "model": ""} == {
        "mode": "labelled", "sets": ["cali"], "blocks": 1, "fitted": True, "model": "", "train_s": 0,
    }  # fmt: skip
    assert storage.exists(used["model"])
    run = storage.fetch(outcome.run)
    assert RunFolder(run).header()["calibration"] == used
    assert rescore(run, data)["score"] == outcome.result["score"]
    assert not any("SECRET" in json.dumps(one) for one in (outcome.result, outcome.error))
    again = play(storage, data, path, {"mode": "labelled", "sets": sets, "blocks": 1})
    assert again.result["calibration"] == used, "trained once: the same model, and the same time"
    changed = play(storage, data, path, {"mode": "labelled", "sets": sets})
    assert said(storage, changed)[0] == "learnt [201, 202, 203] 6 labels False"


def test_unlabelled_sets_are_masked_as_the_stream_masks(storage: Storage, tmp_path: Path, data: Path) -> None:
    sets = {"": storage.put(imagery_data(tmp_path / "cali"))}
    outcome = play(storage, data, entry(tmp_path / "entry"), {"mode": "unlabelled", "sets": sets})
    assert said(storage, outcome)[0] == "learnt [249] 6 labels False"
    assert outcome.result["calibration"]["sets"] == [""]


def test_labels_after_each_trial(storage: Storage, tmp_path: Path, data: Path) -> None:
    outcome = play(storage, data, entry(tmp_path / "entry"), {"mode": "after_trial"})
    lines = said(storage, outcome)
    assert lines[0] == "learnt [] 0 labels True"
    assert lines[1:4] == ["told []", "told []", "told [201]"], "not before the next trial's data has begun"
    used = outcome.result["calibration"]
    assert (used["mode"], used["fitted"], used["model"]) == ("after_trial", False, "")
    plain = play(storage, data, entry(tmp_path / "entry"), None)
    assert "calibration" not in plain.result
    assert all(line in ("told []", "learnt [] 0 labels False") for line in said(storage, plain))


def test_an_entry_with_nothing_to_train_plays_as_it_is(storage: Storage, tmp_path: Path, data: Path) -> None:
    still = "class Learns:\n    def step(self, packet):\n        return 201 if packet.number % 30 == 0 else None\n"
    sets = {"cali": storage.put(data)}
    outcome = play(storage, data, entry(tmp_path / "entry", source=still), {"mode": "labelled", "sets": sets})
    assert outcome.verdict == "ok", outcome
    assert outcome.result["calibration"]["fitted"] is False


@pytest.mark.parametrize(
    ("more", "verdict", "words"),
    [
        ("raise ValueError('label 203 SECRET')", "crashed", "training: failed with exit code 1"),
        ("while True: pass", "over_budget", "training: took longer than its budget of 4 s"),
        ("os._exit(65)", "crashed", "training: refused the data"),
    ],
)
def test_a_training_that_fails_ends_the_run_and_gives_nothing_away(
    storage: Storage, tmp_path: Path, data: Path, more: str, verdict: str, words: str
) -> None:
    wanted = {"mode": "labelled", "sets": {"cali": storage.put(data)}, "budget_s": 4.0}
    outcome = play(storage, data, entry(tmp_path / "entry", more), wanted)
    assert (outcome.verdict, outcome.run) == (verdict, None)
    assert outcome.error == words
    assert "SECRET" not in json.dumps(outcome.result)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mode": "some"}, "mode 'some': choose one of none, labelled, unlabelled, after_trial"),
        ({"mode": "labelled"}, "needs sets"),
        ({"sets": {"a": "file-" + "0" * 64}}, "the mode is none"),
        ({"mode": "labelled", "sets": {"../a": "tree-" + "0" * 64}}, "no name of a set"),
        ({"mode": "labelled", "sets": {"a": "elsewhere"}}, "not the name of a stored"),
        ({"mode": "labelled", "sets": {"a": "tree-" + "0" * 64}, "blocks": 0}, "blocks 0"),
        ({"mode": "labelled", "sets": {"a": "tree-" + "0" * 64}, "budget_s": 0}, "budget_s 0"),
        ({"mode": "labelled", "sets": {"a": "tree-" + "0" * 64}, "limits": {"disk": 1}}, "limits"),
        ({"modus": "none"}, "modus: no such setting"),
    ],
)
def test_wrong_settings_are_one_line(given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        checked(given)


def test_a_trained_match_is_not_cut_by_subject() -> None:
    payload = {"challenge": rulebook("imagery").id, "calibration": {"mode": "labelled", "sets": {"a": "tree-0"}}}
    with pytest.raises(BadInput, match="cannot be cut"):
        enqueue_match(None, payload, subjects=3)  # type: ignore[arg-type]
