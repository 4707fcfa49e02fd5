"""The companion package: written, played by its own main.py, packed and run as it is."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.contests import RULEBOOKS, rulebook
from bciarena.entries import interpreter_for, open_entry
from bciarena.entries.companion import write_starter
from bciarena.entries.packing import pack
from bciarena.entries.tiny import tiny_recording
from bciarena.runs import run_match
from bciarena.sandbox import boxed, why_not
from tests.making import write_folder

CHALLENGES = [book.name for book in RULEBOOKS.values()]
NAMES = {
    "A": {
        "Framework/AlgorithmSystemManager.py": "class AlgorithmSystemManager(FrameworkInterface)",
        "Framework/Interface/FrameworkInterface.py": "def clear_report",
        "Task/Interface/TaskInterface.py": "def get_data",
        "Task/Interface/TaskManagerInterface.py": "def get_score",
        "Algorithm/Interface/Model/ReportModel.py": "result",
    },
    "B": {
        "Framework/AlgorithmSystemManager.py": "class AlgorithmSystemManager(FrameworkInterface)",
        "Task/Interface/TaskInterface.py": "def get_score",
        "Algorithm/Interface/ProblemInterface.py": "def getData",
        "Algorithm/Interface/Model/DataModel.py": "finishedFlag",
    },
    "C": {
        "Algorithm/config/AlgorithmConfig.yml": "method_class_name: AlgorithmImplement",
        "Algorithm/method/interface/ProxyInterface.py": "def get_source",
        "Algorithm/method/interface/SourceInterface.py": "SourceInterface",
        "Algorithm/method/impl/AlgorithmImplement.py": "async def run",
        "Challenge/interface/ChallengeInterface.py": "def receive_message",
    },
}


@pytest.mark.parametrize("challenge", CHALLENGES)
def test_the_contests_layout_and_names(tmp_path: Path, challenge: str) -> None:
    book = rulebook(challenge)
    names = write_starter(book, tmp_path / "e")
    assert {"main.py", "config.toml", "requirements.txt", "README.md", "README_zh.md"} <= set(names)
    for name, words in NAMES[book.dialect].items():
        assert words in (tmp_path / "e" / name).read_text()
    for name in names:
        text = (tmp_path / "e" / name).read_text()
        assert not re.search(r"__[A-Z]", text), name
    with open_entry(str(tmp_path / "e"), book) as package:
        assert (package.dialect, package.python, package.warnings) == (book.dialect, book.python, ())
        assert package.requirements is None


def test_the_sample_suits_its_contests_python(tmp_path: Path) -> None:
    """Every sample compiles in its contest's Python, and what it imports beside numpy is its own."""
    for challenge in CHALLENGES:
        folder = tmp_path / challenge
        write_starter(rulebook(challenge), folder)
        packed = pack(str(folder), rulebook(challenge), tmp_path / f"{challenge}.zip")
        assert packed.python == rulebook(challenge).python
        assert packed.warnings == ()


def play(folder: Path, *arguments: str | Path) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, folder / "main.py", *arguments], capture_output=True, text=True, env=environment, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_main_plays_the_sample_better_than_chance(tmp_path: Path) -> None:
    """As a newcomer does: new, main.py; then the same folder packed and run in the box, with the same score."""
    assert main(["new", "imagery", str(tmp_path / "e")]) == 0
    said = play(tmp_path / "e")
    accuracy = float(re.search(r"accuracy: ([\d.]+)", said)[1])  # type: ignore[index]
    assert accuracy > 0.45  # chance is a third; 60 trials
    assert sorted(path.name for path in (tmp_path / "e" / "data").iterdir()) == ["S01", "S02"]
    again = play(tmp_path / "e")
    assert again == said
    if why_not() is None:
        out = tmp_path / "e.tar.gz"
        assert main(["pack", str(tmp_path / "e"), "--challenge", "imagery", "-o", str(out)]) == 0
        run = tmp_path / "run"
        command = ["run", str(out), "--challenge", "imagery", "--data", str(tmp_path / "e" / "data"), "--out", str(run)]
        assert main([*command, "--clock", "data"]) == 0
        score = re.search(r"score ([\d.]+)", said)[1]  # type: ignore[index]
        assert f'"score": {score[:-1]}' in (run / "score.json").read_text()


@pytest.mark.parametrize("challenge", ["turing", "liveness", "rehab", "speller"])
def test_main_plays_a_folder_of_ones_own(tmp_path: Path, challenge: str) -> None:
    """Every dialect's faces, on a few trials."""
    book = rulebook(challenge)
    write_starter(book, tmp_path / "e")
    n = book.rate
    codes = {"turing": 12, "liveness": 130, "rehab": 1, "speller": 3}
    data = write_folder(book, tmp_path / "data", [(9 * n, {n: 242, 2 * n: codes[challenge], 7 * n: 241, 8 * n: 243})])
    said = play(tmp_path / "e", data)
    assert said.startswith(f"{book.id}: score ")


def test_the_speller_sample_answers(tmp_path: Path) -> None:
    """In its own Python, in the box, on clear flicker: the right keys, and nothing where no key flickers."""
    if why_not() is not None:
        pytest.skip(f"boxes do not work here: {why_not()}")
    book = rulebook("speller")
    write_starter(book, tmp_path / "e")
    with open_entry(str(tmp_path / "e"), book) as package:
        player = boxed(package, interpreter_for(package))
        result = run_match(book, tiny_recording(book), player, clock="data")
    assert result["metrics"]["accuracy"] == 1
    assert result["metrics"]["fpr"] == 0


@pytest.mark.parametrize("challenge", CHALLENGES)
def test_the_practice_set_can_be_asked_for(tmp_path: Path, challenge: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its words are understood: what stands in the way is a folder that is not empty."""
    write_starter(rulebook(challenge), tmp_path / "e")
    text = (tmp_path / "e" / "Framework" / "practice.py").read_text()
    words = ast.literal_eval(re.search(r"^SIMULATE = (.*)$", text, re.M)[1])
    assert main(["simulate", *words, "--out", str(tmp_path / "e")]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_main_without_data_says_so(tmp_path: Path) -> None:
    """In a Python that has nothing but itself: told in one line what to do, in both languages."""
    write_starter(rulebook("rehab"), tmp_path / "e")
    with open_entry(str(tmp_path / "e"), rulebook("rehab")) as package:
        command = [interpreter_for(package).executable, "-I", "-B", tmp_path / "e" / "main.py"]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 1
    assert "arena simulate rehab" in done.stderr
    assert "请指定数据目录" in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.py").write_text("precious")
    assert main(["new", "imagery", str(tmp_path / "full")]) == 2
    assert main(["new", "chess", str(tmp_path / "x")]) == 2
    assert main(["new", "imagery", "/proc/nowhere/x"]) == 2
    assert capsys.readouterr().err.count("\n") == 3
    assert (tmp_path / "full" / "mine.py").read_text() == "precious"
