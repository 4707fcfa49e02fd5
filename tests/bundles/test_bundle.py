"""A bundle verifies; whatever is changed in it is told."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from bciarena.bundles import make_bundle, verify_bundle
from bciarena.bundles.crate import METADATA, sha256
from bciarena.cli import main
from bciarena.contests import RULEBOOKS, rulebook
from bciarena.entries.opened import opened
from bciarena.errors import BadInput
from bciarena.recording import open_recording
from tests.making import write_folder

ENTRY = """
class Mine:
    def start(self, info):
        self.left = None

    def step(self, packet):
        if 249 in packet.data[-1]:
            self.left = 3
        elif self.left:
            self.left -= 1
            return 201 if not self.left else None
"""
CODES = {500: 201, 2500: 202, 4500: 203, 6500: 201}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with data, an entry, its run, and bundles of it with and without the entry."""
    folder = tmp_path_factory.mktemp("bundle")
    book = rulebook("imagery")
    write_folder(book, folder / "data", [(8000, CODES)], [(8000, CODES)])
    (folder / "mine.py").write_text(ENTRY)
    with opened(f"{folder}/mine.py:Mine", book) as ready:
        about = {"entry": f"{folder}/mine.py:Mine", "name": "mine:Mine"}
        ready.run(open_recording(folder / "data"), out=folder / "run", clock="data", about=about)
    make_bundle(folder / "run", folder / "bare.zip")
    make_bundle(folder / "run", folder / "full.zip", with_entry=True, licence="https://spdx.org/licenses/CC0-1.0")
    return folder


def changed(source: Path, target: Path, change, honest=True) -> Path:
    """A copy of a bundle in which ``change(folder)`` was done; ``honest``: the metadata was not adapted to it."""
    folder = target.with_suffix("")
    with zipfile.ZipFile(source) as archive:
        archive.extractall(folder)
    change(folder)
    if not honest:
        crate = json.loads((folder / METADATA).read_text())
        for one in crate["@graph"]:
            if one["@type"] == "File":
                one["sha256"] = sha256(folder / one["@id"])
        (folder / METADATA).write_text(json.dumps(crate))
    return Path(shutil.make_archive(str(folder), "zip", folder))


def edit(name, old, new):
    def change(folder):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


def test_an_untouched_bundle_holds_and_replays(place):
    found = verify_bundle(place / "full.zip", data=place / "data")
    assert not found.differs
    assert not found.unchecked
    assert [line.split(":")[0] for line in found.holds] == ["files", "rules", "score", "data", "replay"]
    assert "8 reports" in found.holds[-1]


def test_without_data_and_entry_it_says_what_was_not_checked(place):
    found = verify_bundle(place / "bare.zip")
    assert [line.split(":")[0] for line in found.unchecked] == ["data"]
    found = verify_bundle(place / "bare.zip", data=place / "data")
    assert [line.split(":")[0] for line in found.unchecked] == ["replay"]
    found = verify_bundle(place / "bare.zip", data=place / "data", entry=f"{place}/mine.py:Mine")
    assert not found.unchecked
    assert not found.differs


def test_the_same_run_gives_the_same_bytes_and_no_path_of_ours(place):
    again = place / "again.zip"
    make_bundle(place / "run", again)
    assert again.read_bytes() == (place / "bare.zip").read_bytes()
    with zipfile.ZipFile(place / "full.zip") as archive:
        for name in archive.namelist():
            assert str(place).encode() not in archive.read(name), name


def test_others_read_it_as_a_crate(place):
    rocrate = pytest.importorskip("rocrate.rocrate")
    crate = rocrate.ROCrate(place / "full.zip")
    assert crate.root_dataset["license"] == "https://spdx.org/licenses/CC0-1.0"
    assert {one.id for one in crate.data_entities} >= {"run/ledger.jsonl", "run/score.json", "rules/score.py"}
    (action,) = (
        crate.root_dataset["mentions"]
        if isinstance(crate.root_dataset["mentions"], list)
        else [crate.root_dataset["mentions"]]
    )
    assert action.type == "CreateAction"
    assert {one.id for one in action["result"]} == {"run/ledger.jsonl", "run/score.json"}


TAMPERED = {
    "a changed file": (edit("run/stdout.txt", "", "x"), True, "run/stdout.txt was changed"),
    "an added file": (lambda folder: (folder / "new").write_text(""), True, "new is not in the metadata"),
    "a missing file": (lambda folder: (folder / "environment.json").unlink(), True, "environment.json is missing"),
    "the score": (edit("run/score.json", '"score": ', '"score": 9'), False, "score: "),
    "a trial": (edit("run/score.json", '"correct": false', '"correct": true'), False, "trial 2"),
    "an answer": (edit("run/ledger.jsonl", '"value":201', '"value":202'), False, "trials are not what"),
    "the truth": (edit("truth.json", '"code": 202', '"code": 201'), False, "trials are not what"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_what_was_changed_is_told(what, place, tmp_path):
    change, honest, words = TAMPERED[what]
    found = verify_bundle(changed(place / "bare.zip", tmp_path / "b.zip", change, honest))
    assert any(words in line for line in found.differs), found


def test_a_ledger_invented_whole_is_caught_by_the_replay(place, tmp_path):
    """Truth, ledger and score agree with each other; the entry does not answer like that."""
    run = tmp_path / "run"
    shutil.copytree(place / "run", run)
    lines = (run / "ledger.jsonl").read_text().replace('"value":201', '"value":202', 1)
    (run / "ledger.jsonl").write_text(lines)
    from bciarena.runs import RunFolder, rescore

    RunFolder(run).write_score(rescore(run, place / "data"))
    make_bundle(run, tmp_path / "b.zip", data=place / "data", with_entry=True)
    assert not verify_bundle(tmp_path / "b.zip").differs
    found = verify_bundle(tmp_path / "b.zip", data=place / "data")
    assert any("from number 1 on" in line for line in found.differs)


def test_a_bundles_own_code_runs_only_when_trusted(place, tmp_path):
    mark = tmp_path / "ran"

    def change(folder):
        rules = folder / "rules" / "rules.py"
        rules.write_text(rules.read_text().replace("imagery/1", "strange/1") + f"\nopen({str(mark)!r}, 'w').close()\n")
        edit("run/ledger.jsonl", "imagery/1", "strange/1")(folder)

    bundle = changed(place / "bare.zip", tmp_path / "b.zip", change, honest=False)
    found = verify_bundle(bundle)
    assert not mark.exists()
    assert any("--trust-rules" in line for line in found.unchecked)
    assert not any(line.startswith("score") for line in found.holds)
    with pytest.raises(BadInput, match="other rules than the ledger"):
        verify_bundle(bundle, trust_rules=True)
    assert mark.exists()


def test_unknown_rules_score_by_the_bundles_own_code_when_trusted(place, monkeypatch):
    monkeypatch.delitem(RULEBOOKS, "imagery/1")
    assert not any(line.startswith("score") for line in verify_bundle(place / "bare.zip").holds)
    found = verify_bundle(place / "bare.zip", trust_rules=True)
    assert [line.split(":")[0] for line in found.holds] == ["files", "rules", "score"]
    assert "own code was run" in found.holds[1]


def test_commands(place, tmp_path, capsys):
    out = tmp_path / "run.crate.zip"
    assert main(["bundle", str(place / "run"), "-o", str(out)]) == 0
    assert sha256(out) in capsys.readouterr().out
    assert main(["verify", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differs"] == []
    bad = changed(out, tmp_path / "bad.zip", edit("run/ledger.jsonl", '"value":201', '"value":203'), honest=False)
    assert main(["verify", str(bad)]) == 1
    assert "differs: score:" in capsys.readouterr().out
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr(METADATA, "{}")
    assert main(["verify", str(other)]) == 2
    assert METADATA in capsys.readouterr().err


@pytest.mark.parametrize("name", [METADATA, "truth.json", "run/ledger.jsonl", "run/score.json", "entry.json"])
def test_json_nested_without_end_is_refused_in_one_line(name, place, tmp_path, capsys):
    def change(folder):
        (folder / name).write_text("[" * 100_000 + "]" * 100_000 + "\n")

    bundle = changed(place / "full.zip", tmp_path / "deep.zip", change)
    assert main(["verify", str(bundle), "--data", str(place / "data")]) == 2
    said = capsys.readouterr().err
    assert Path(name).name in said
    assert len(said.splitlines()) == 1
