"""arena doctor says what is there, and what to do about what is not."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.contests import RULEBOOKS
from bciarena.doctor import examine


def test_on_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    lines = {line["part"]: line for line in json.loads(capsys.readouterr().out)}
    own = f"python {sys.version_info[0]}.{sys.version_info[1]}"
    assert lines[own]["state"] == "ok"
    for part in (
        "machine",
        "bubblewrap",
        "user namespaces",
        "cgroup",
        "seccomp",
        "chromium",
        "postgresql",
        "extra decode",
    ):
        assert lines[part]["state"] in ("ok", "missing", "limited")
        assert bool(lines[part]["advice"]) == (lines[part]["state"] != "ok")


def test_on_a_bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on PATH, no pyenv, no uv: every line says what to do."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path))
    lines = {line.part: line for line in examine()}
    assert lines["bubblewrap"].state == "missing"
    assert "apt install bubblewrap" in lines["bubblewrap"].advice
    assert "ARENA_PYTHON_3_8=" in lines["python 3.8"].advice
    assert lines["chromium"].state == "missing"


def test_a_contest_that_names_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULEBOOKS, "own/1", dataclasses.replace(next(iter(RULEBOOKS.values())), python=""))
    assert not [line for line in examine() if line.part == "python "]
