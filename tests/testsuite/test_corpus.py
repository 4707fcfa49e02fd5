"""Every folder of testsuite/ gets the verdict and the score it must get, under bubblewrap."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tomllib
from pathlib import Path

import pytest

from bciarena.contests import rulebook
from bciarena.entries.environments import interpreter_for
from bciarena.entries.package import open_entry
from bciarena.errors import BadInput, EntryFailed
from bciarena.runs import run_match
from bciarena.sandbox import Limits, boxed, counters, why_not
from bciarena.sandbox.cgroups import PREFIX

CORPUS = Path(__file__).parents[2] / "testsuite"
sys.path.insert(0, str(CORPUS))

import make  # noqa: E402
import recordings  # noqa: E402

KEPT = sorted(
    p.parent.relative_to(CORPUS).as_posix() for room in ("broken", "hostile") for p in CORPUS.glob(f"{room}/*/expected.toml")
)
TOGETHER = [case for case in KEPT if "together" in tomllib.loads((CORPUS / case / "expected.toml").read_text())]
"""Played at the same time in several boxes: tests/sandbox/test_neighbours.py."""
MADE = [f"honest/{case}" for case in make.names()]

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """What hostile entries look for: a secret file, a listening port, the referee's process."""
    folder = tmp_path_factory.mktemp("outside")
    folder.chmod(0o777)
    secret = folder / "block_1.npz"
    secret.write_bytes(b"THE TRUTH")
    secret.chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = {
            "secret": str(secret),
            "folder": str(folder),
            "port": server.getsockname()[1],
            "pid": os.getpid(),
            "environment": "ARENA_SECRET=the truth",
        }
        yield where


@pytest.fixture(scope="session")
def honest(tmp_path_factory):
    """The honest entries, written by make.py."""
    folder = tmp_path_factory.mktemp("honest")
    for case in make.names():
        make.write(folder, case)
    return folder


def play(case: Path, expected: dict, where: dict, out: Path) -> dict:
    """Play a copy of an entry's folder with where.json put in; an entry refused at opening is a verdict too."""
    source = out / "entry"
    shutil.copytree(case, source, ignore=shutil.ignore_patterns("expected.toml"))
    if (source / "entry.py").exists():
        (source / "where.json").write_text(json.dumps(where))
    book = rulebook(expected["challenge"])
    spec = f"{source}/{expected['entry']}" if "entry" in expected else str(source)
    try:
        with open_entry(spec, book, python=expected.get("python")) as package:
            player = boxed(package, interpreter_for(package), limits=Limits(**expected.get("limits", {})))
            return run_match(
                book,
                recordings.recording(book.name),
                player,
                out=out / "run",
                clock="data",
                budget_s=expected.get("budget_s"),
            )
    except EntryFailed as error:
        return {"verdict": error.verdict, "reason": error.reason, "score": 0.0, "notes": []}
    except BadInput as error:  # as a worker has it
        return {"verdict": "invalid_entry", "reason": str(error), "score": 0.0, "notes": []}


@pytest.mark.parametrize("case", [*MADE, *(case for case in KEPT if case not in TOGETHER)])
def test_case(case, honest, outside, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_SECRET", "the truth")
    monkeypatch.setattr(counters, "MOST", 2000)  # of 65,536, which take their time
    room, name = case.split("/", 1)
    folder = honest / name if room == "honest" else CORPUS / case
    expected = tomllib.loads((folder / "expected.toml").read_text())
    before = set(left_behind())  # other modules of this process may keep helpers of their own
    for number in range(expected.get("runs", 1)):
        out = tmp_path / str(number)
        out.mkdir()
        result = play(folder, expected, outside, out)
        said = out / "run" / "stdout.txt"
        printed = said.read_text(errors="replace") if said.exists() else ""
        assert "ESCAPED" not in printed, printed
        told = (result["verdict"], result["reason"], result["notes"][:5], printed[-2000:])
        assert result["verdict"] == expected["verdict"], told
        assert result["score"] == pytest.approx(expected["score"], rel=1e-9), told
        assert expected.get("reason", "") in result["reason"], told
        assert os.environ["ARENA_SECRET"] not in result["reason"], told
        for note in expected.get("notes", []):
            assert any(note in line for line in result["notes"]), told
        for words in expected.get("prints", []):
            assert words in printed, told
        assert sum(path.stat().st_size for path in (out / "run").glob("*.txt")) < 4 << 20
    assert set(left_behind()) <= before


def left_behind() -> list[str]:
    """Processes and groups of ours that are there now: without a cgroup the children would tell."""
    groups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/{PREFIX}{os.getpid()}-*")]
    children = [text for path in Path("/proc/self/task").glob("*/children") for text in path.read_text().split()]
    return groups + children


def test_every_kept_entry_is_played():
    """A folder with an expected verdict in a room that is not walked would be a test that never runs."""
    found = {p.parent.relative_to(CORPUS).as_posix() for p in CORPUS.rglob("expected.toml")}
    samples = {f"honest/{case}" for case in make.SAMPLES}
    uploads = {case for case in found if case.startswith("archive/")}  # tests/entries/test_archive.py opens these
    assert found == {*KEPT, *samples, *uploads}
    assert TOGETHER == ["hostile/signals_on_shared_pages"]


def test_kept_samples_are_up_to_date(honest):
    for case in make.SAMPLES:
        made, kept = files(honest / case), files(CORPUS / "honest" / case)
        assert made == kept, f"{case}: run python testsuite/make.py"


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
