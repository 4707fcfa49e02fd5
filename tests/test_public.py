"""The public Python interface: what a user of the package, a type checker and a notebook see."""

from __future__ import annotations

import subprocess
import sys
import traceback
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import bciarena
import bciarena.decoders
from bciarena import BadInput, Result, play, rulebook, simulate
from bciarena.recording import open_recording
from bciarena.simulator import Order, make
from tests.making import make_recording

ROOT = Path(__file__).resolve().parents[1]
BOOK = rulebook("imagery")
DATA = make_recording(BOOK, [(2500, {500: 201, 1500: 202})])


class Left:
    def step(self, packet):
        return 201 if packet.number in (90, 190) else None


@pytest.mark.parametrize("package", [bciarena, bciarena.decoders], ids=lambda p: p.__name__)
def test_every_public_name_is_there_and_documented(package):
    assert dir(package) == sorted(package.__all__)
    for name in package.__all__:
        found = getattr(package, name)
        assert not isinstance(found, (type, FunctionType)) or found.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


SNIPPET = """
import bciarena
from bciarena import Packet, Recording, Result, TrialRow, Verdict, play, open_recording, rulebook
from bciarena.decoders import CCA

class Mine:
    def step(self, packet: Packet) -> int | None:
        return 201 if packet.start else None

recording: Recording = open_recording("data")
result: Result = play(Mine(), "imagery", recording)
score: float = result["score"]
verdict: Verdict = result["verdict"]
first: TrialRow = result["trials"][0]
answer: str | None = first["answer"]
CCA([8.0], 250).fit([])
reveal_type(play)
reveal_type(rulebook("imagery").limit_s)
wrong: int = result["notes"]
play(Mine(), "imagery")
bciarena.nothing
"""


def test_a_type_checker_sees_it(tmp_path):
    """As a user's own file, checked strictly: what is right passes, the three last lines are refused."""
    file = tmp_path / "mine.py"
    file.write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"),
               "--cache-dir", str(ROOT / ".mypy_cache"), str(file)]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    errors = [line for line in said.splitlines() if ": error:" in line]
    assert [int(line.split(":")[1]) for line in errors] == [19, 20, 21], said
    assert "-> bciarena.runs.result.Result" in said
    assert 'Revealed type is "float | None"' in said


def test_importing_the_package_brings_nothing_heavy():
    script = "import sys, bciarena; print([m for m in ('numpy', 'scipy', 'rich', 'sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_result_is_a_dict_and_shows_itself(tmp_path):
    result = play(Left(), "imagery", DATA)
    assert isinstance(result, dict)
    assert result["metrics"]["accuracy"] == 0.5
    assert "\n" not in repr(result)
    assert "score" in repr(result)
    html = result._repr_html_()
    assert html.count("<rect") == 2
    assert "<table>" in html
    assert "bits/min" in html


def test_what_a_result_shows_of_an_entry_is_escaped():
    class Rude:
        def step(self, packet):
            return "<script>" if packet.number == 90 else None

    html = play(Rude(), "imagery", DATA)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_an_empty_result_shows_itself():
    empty = Result(challenge="imagery/1", verdict="ok", reason="", score=0.0, unit="bits/min", metrics={}, trials=[])
    assert "0 trials" in empty._repr_html_()
    assert repr(Result())


def test_play_raises_what_the_entry_raised_and_keeps_the_run(tmp_path):
    class Breaks:
        def step(self, packet):
            return self.helper(packet)

        def helper(self, packet):
            if packet.number == 3:
                raise LookupError("no such electrode")

    with pytest.raises(LookupError, match="no such electrode") as caught:
        play(Breaks(), "imagery", DATA, out=tmp_path / "run")
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "helper"
    assert caught.value.__notes__ == ["in a match: subject 1, block 1, after 3 packets"]
    assert bciarena.RunFolder(tmp_path / "run").score()["verdict"] == "crashed"


@pytest.mark.parametrize(
    ("entry", "words"), [(Left, r"Left is a class: give an object of it, play\(Left\(\)"), (object(), "none of step")]
)
def test_what_is_no_entry_is_told_in_one_line(entry, words):
    with pytest.raises(BadInput, match=words):
        play(entry, "imagery", DATA)


def test_recordings_show_themselves_in_one_line():
    assert repr(DATA) == "<Recording in memory: 1 subjects, 1 blocks, 0.2 min, 64 channels, 250 Hz>"
    for shown in (DATA.subjects[0], DATA.subjects[0].blocks[0], bciarena.Recording(())):
        assert len(repr(shown)) < 100


def test_simulating_in_memory_gives_what_is_written_to_files(tmp_path):
    recording = simulate("imagery", split="train", subjects=2, blocks=1, seed=3)
    make(Order("imagery", "train", 2, 1, 3), tmp_path / "data")
    assert recording.digest == open_recording(tmp_path / "data").digest
    assert np.asarray(recording.subjects[1].blocks[0].eeg).dtype == np.float32
