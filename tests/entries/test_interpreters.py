"""Real Pythons: found, chosen, and given an environment."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bciarena.entries import interpreter_for
from bciarena.entries.environments import platform_interpreter
from bciarena.entries.interpreters import all_pythons, find_python, nearest_python
from bciarena.errors import BadInput, EntryFailed
from bciarena.package import Dialect, Package

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


def package(
    root: Path, python: str | None = None, dialect: Dialect = "A", requirements: str = "", contest: str = "3.8"
) -> Package:
    path = root / "requirements.txt"
    path.write_text(requirements)
    return Package("e", root, dialect, "x.py:X", python, path if requirements else None, "", contest_python=contest)


def ask(executable: Path, program: str) -> str:
    done = subprocess.run([executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("version", ["3.8", "3.10"])
def test_the_contests_pythons(tmp_path: Path, version: str) -> None:
    chosen = interpreter_for(package(tmp_path, version))
    seen = ask(chosen.executable, "import sys, numpy; print(sys.version_info[:2], numpy.__version__, numpy.__file__)")
    major, minor = version.split(".")
    assert f"({major}, {minor})" in seen
    assert " 1.2" in seen  # the contests ran numpy 1.2x
    for place in (seen.split()[-1], ask(chosen.executable, "import os; print(os.__file__)")):
        assert any(Path(place).is_relative_to(folder) for folder in chosen.readable)


def test_which_python_is_chosen(tmp_path: Path) -> None:
    assert interpreter_for(package(tmp_path)).version.startswith("3.8.")
    assert interpreter_for(package(tmp_path, "3.8"), "3.10").version.startswith("3.10.")
    assert interpreter_for(package(tmp_path, None, "D", contest="")) == platform_interpreter()
    assert interpreter_for(package(tmp_path, "platform")) == platform_interpreter()
    with pytest.raises(BadInput, match=r"Python 3\.77 is not on this machine.*ARENA_PYTHON_3_77"):
        interpreter_for(package(tmp_path), "3.77")
    with pytest.raises(BadInput, match=r"Python 3\.7 is too old"):
        interpreter_for(package(tmp_path), "3.7")
    with pytest.raises(BadInput, match=r"Python 3\.7 is too old"):
        interpreter_for(replace(package(tmp_path, "3.7"), exact=True))  # compiled by it
    nearest = interpreter_for(package(tmp_path, "3.7"))  # only named by it
    assert nearest.version.startswith("3.8.")
    assert "Python 3.7 is not on this machine" in nearest.warnings[0]


def test_the_nearest_one_comes_with_a_warning(tmp_path: Path) -> None:
    best, words = nearest_python("3.99")
    assert best == all_pythons()[-1]
    assert words.startswith(f"Python 3.99 is not on this machine; the nearest is used: {best.version};")
    assert nearest_python("3.10")[1] == ""


def test_a_variable_names_an_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that is an environment: the base behind it is taken."""
    monkeypatch.setenv(f"ARENA_PYTHON_{HERE.replace('.', '_')}", sys.executable)
    found = find_python(HERE)
    assert found.source.startswith("ARENA_PYTHON_")
    assert found.executable.is_relative_to(Path(sys.base_prefix).resolve())
    monkeypatch.setenv("ARENA_PYTHON_3_8", "/nowhere/python")
    with pytest.raises(BadInput, match="ARENA_PYTHON_3_8 is set to /nowhere/python, which is not a file"):
        find_python("3.8")


def test_a_lying_interpreter_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("python3.8", "#!/bin/sh\nexit 3\n"), ("python3", "#!/bin/sh\necho hello\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    monkeypatch.setenv("ARENA_PYTHON_3_10", "/bin/true")
    assert all(found.executable.parent != tmp_path for found in all_pythons())


def test_the_platforms_own_shows_only_what_it_needs() -> None:
    chosen = platform_interpreter()
    program = "import numpy, sys; print(numpy.__file__, sys.base_prefix, sep='|')"
    for place in ask(chosen.executable, program).split("|"):
        assert any(Path(place).is_relative_to(folder) for folder in chosen.readable)
    assert not any(Path(__file__).resolve().is_relative_to(folder) for folder in chosen.readable)


def test_a_requirement_that_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wanted = package(tmp_path, "3.8", requirements="surely-no-such-package==1.0\n")
    (tmp_path / "x.py").write_text("import surely_no_such_package\n")
    with pytest.raises(EntryFailed, match="surely-no-such-package") as caught:
        interpreter_for(wanted)
    assert caught.value.verdict == "import_error"
    assert "\n" not in caught.value.reason
    assert [path.suffix for path in (tmp_path / "cache" / "bciarena" / "envs").iterdir()] == [".lock"]
