"""Other systems than Linux, as far as they can be imitated here: what Windows lacks is taken away in a subprocess."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bciarena.contests import rulebook
from tests.making import write_folder

WITHOUT = """
import sys
import numpy, scipy.signal, plotly.graph_objects, jinja2, rich.progress, typer, multiprocessing, asyncio  # as they are
import os, subprocess, tempfile, webbrowser
for name in ("fcntl", "resource", "pwd", "grp", "termios", "pty", "syslog"):
    sys.modules[name] = None
for name in ("fork", "getuid", "geteuid", "getgid", "getegid", "memfd_create", "sched_getaffinity", "killpg", "setsid"):
    if hasattr(os, name):
        delattr(os, name)
sys.platform = "win32"
import json
from bciarena.cli import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    print(f"{words[0]}: {code}", file=sys.stderr, flush=True)
"""
ENTRY = """from beside import ANSWER


class Mine:
    def step(self, packet):
        return ANSWER if packet.start == 1500 else None
"""


def arena(*commands: tuple[object, ...]) -> subprocess.CompletedProcess[str]:
    """Commands one after the other in one such process; each is followed by its exit code on stderr."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    return subprocess.run([sys.executable, "-c", WITHOUT, words], capture_output=True, text=True)


def test_what_works_without_linux(tmp_path: Path) -> None:
    data = write_folder(rulebook("imagery"), tmp_path / "data", [(6000, {500: 201, 2500: 202, 4500: 203})])
    (tmp_path / "mine.py").write_text(ENTRY)
    (tmp_path / "beside.py").write_text("ANSWER = 201\n")
    run = tmp_path / "run"
    play = ("run", f"{tmp_path}/mine.py:Mine", "--challenge", "imagery", "--data", data, "--sandbox", "none")
    commands = (
        ("simulate", "imagery", "--subjects", 1, "--blocks", 1, "--out", tmp_path / "simulated"),
        (*play, "--out", run),
        ("score", run),
        ("report", run, "-o", tmp_path / "report.html"),
        ("compare", run, run),
        ("export", run),
        ("new", "imagery", tmp_path / "package"),
        ("challenges",),
        ("entries",),
        ("config",),
    )
    done = arena(*commands)
    for words in commands:
        assert f"{words[0]}: 0" in done.stderr.splitlines(), done.stderr
    notes = json.loads((run / "score.json").read_text())["notes"]
    assert any("not for ranking" in note for note in notes)
    assert json.loads((run / "ledger.jsonl").read_text().splitlines()[-1])["sandbox"] == "in-process"


def test_what_does_not_says_so_in_one_line(tmp_path: Path) -> None:
    data = write_folder(rulebook("imagery"), tmp_path / "data", [(3000, {500: 201})])
    done = arena(
        ("run", "@imagery", "--data", data),
        ("run", "@imagery", "--data", data, "--sandbox", "none"),
        ("check", tmp_path, "--challenge", "imagery"),
        ("train", "@imagery", "--data", data),
        ("serve",),
    )
    lines = [line for line in done.stderr.splitlines() if "WARNING" not in line]
    assert lines[1::2] == ["run: 2", "run: 2", "check: 2", "train: 2", "serve: 2"], lines
    assert all("on Linux only" in line for line in lines[::2]), lines
