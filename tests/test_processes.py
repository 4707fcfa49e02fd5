"""Programs of our own import nothing from the folder they are started in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bciarena.processes import own_environment, own_python


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder with modules that others look for in vain (copy and pickle look for org), each leaving a mark."""
    for name in ("org", "bciarena", "numpy", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'a').write('{name} ')\n")
    return tmp_path


@pytest.mark.parametrize("named", [None, "", ".", ":", "relative/folder:"])
def test_nothing_is_imported_from_the_present_folder(trap: Path, named: str | None, monkeypatch) -> None:
    if named is not None:
        monkeypatch.setenv("PYTHONPATH", named)
    for command in (own_python("bciarena.service.keeper", "--help"), own_python("bciarena", "--help")):
        done = subprocess.run(command, cwd=trap, env=own_environment(), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    assert not (trap / "mark").exists()


def test_python_dash_m_bciarena_neither(trap: Path) -> None:
    (trap / "bciarena.py").unlink()  # that one is the user's own choice: Python finds it before any line of ours
    done = subprocess.run([sys.executable, "-m", "bciarena", "--help"], cwd=trap, capture_output=True, timeout=60)
    assert done.returncode == 0
    assert "org" not in ((trap / "mark").read_text() if (trap / "mark").exists() else "")


def test_paths_that_are_whole_stay(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "/somewhere", "here", "/else"]))
    assert own_environment()["PYTHONPATH"] == "/somewhere" + os.pathsep + "/else"


STOPPED = """
import signal, threading
from bciarena.processes import set_by_signals
event = threading.Event()
set_by_signals(event)
with event._cond:  # as in the middle of event.wait()
    signal.raise_signal(signal.SIGTERM)
print(event.wait(20))
"""


def test_a_signal_in_the_middle_of_waiting_for_it_stops_and_does_not_hang() -> None:
    done = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["True"], done.stderr
