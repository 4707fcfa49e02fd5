"""The bare package, without any extra: every command works or says in one line which extra it wants.

The environment is a real one: a new interpreter that sees this package and what it requires, and nothing else.
"""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import bciarena
from bciarena.contests import rulebook
from tests.making import write_folder

REPOSITORY = Path(__file__).resolve().parents[1]


def closure(lines, seen):
    """The distributions that fulfil these requirements, and those that they require, without extras."""
    for need in map(Requirement, lines):
        if (need.marker is None or need.marker.evaluate({"extra": ""})) and need.name.lower() not in seen:
            seen[need.name.lower()] = found = distribution(need.name)
            closure(found.requires or [], seen)
    return seen


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python that has only what `pip install bciarena` brings."""
    home = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "bciarena").symlink_to(Path(bciarena.__file__).parent)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    for found in [distribution("bciarena"), *closure(project["dependencies"], {}).values()]:
        for top in {file.parts[0] for file in found.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            if not top.startswith(("__editable__", "_bciarena")) and not (site / top).exists():
                (site / top).symlink_to(found.locate_file(top))
    return home / "bin" / "python"


def arena(python, *words):
    done = subprocess.run([python, "-m", "bciarena", *map(str, words)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_folder(rulebook("imagery"), tmp_path_factory.mktemp("data"), [(4000, {500: 201, 2000: 202})])


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("train @imagery --data DATA --out {}/model", "decode"),
        ("serve --home {}/site", "site"),
        ("queue --database sqlite:///{}/x.db", "jobs"),
        ("report {}/run -o {}/page.html", "report"),
        ("live record --challenge speller --stream none --out {}/live", "lab"),
        ("lab speller", "lab"),
        ("bench decoders", "bench"),
    ],
)
def test_says_which_extra_it_wants(bare, data, tmp_path, words, extra):
    code, _, said = arena(bare, *words.replace("{}", str(tmp_path)).replace("DATA", str(data)).split())
    assert code == 2, said
    assert sum(line.startswith("arena: ") for line in said.splitlines()) == 1, said
    assert said.count("\n") <= 2, said  # a slow machine says what it does before it says what it lacks
    assert re.search(rf"pip install 'bciarena\[{extra}\]'", said), said


def test_a_package_is_made_checked_and_scored_without_extras(bare, data, tmp_path):
    code, _, said = arena(bare, "new", "imagery", tmp_path / "mine")
    assert code == 0, said
    entry = tmp_path / "mine.py"
    entry.write_text("class Mine:\n    def predict(self, X):\n        return [201]\n")
    out = tmp_path / "run"
    code, _, said = arena(
        bare, "run", f"{entry}:Mine", "--challenge", "imagery", "--data", data, "--out", out, "--sandbox", "none"
    )
    assert code == 0, said
    assert arena(bare, "score", out)[0] == 0


def test_version(bare):
    assert arena(bare, "--version") == (0, f"arena {version('bciarena')}\n", "")
    assert f"\nversion: {version('bciarena')}\n" in (REPOSITORY / "CITATION.cff").read_text()


def test_completion():
    told = subprocess.run(
        [sys.executable, "-m", "bciarena"],
        env={"_ARENA_COMPLETE": "complete_bash", "COMP_WORDS": "arena rul", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
    )
    assert told.stdout.split() == ["rulebook"], told.stderr
