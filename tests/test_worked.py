"""The worked example of a page runs as it is printed: its Python saved under the name the page gives, its commands."""

import contextlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bciarena.cli import main

DOCS = Path(__file__).resolve().parents[1] / "docs"
SAVED = re.compile(r"[Ss]ave this as `([\w.]+)`[^\n]*\n```\w*\n(.*?)```", re.S)
LAST = {
    "publishing.md": "paper/references.bib",
    "models.md": "score",
    "moabb.md": "ok",
    "bids.md": "30 trials",
    "import.md": "30 trials",
    "entries.md": "48 reports in 48 trials",
    "contests.md": "report.html",
    "release.md": "score",
    "start/contestant.md": "up.zip",
    "start/organiser.md": "0 things wrong",
    "start/lab.md": "score",
    "howto/own-data.md": "chance",
    "howto/old-package.md": "60 reports",
    "howto/own-contest.md": "score",
    "howto/cluster.md": "table.csv",
    "howto/headset.md": "fit",
    "howto/season.md": "season",
    "howto/finals.md": "0 things wrong",
    "explain/statistics.md": "power",
    "explain/simulator.md": "score",
}
"""What the last command of the page's examples says."""
LIVE = {"start/lab.md", "howto/headset.md"}
"""A simulated headset sends in real time there, and a busy machine would not be called fit."""


def free_port():
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


@contextlib.contextmanager
def beside(line, log):
    """A command that a page starts with &: it runs until the page is done."""
    words = [sys.executable, "-m", "bciarena", *shlex.split(line, comments=True)[1:-1]]
    with log.open("wb") as said, subprocess.Popen(words, stdout=said, stderr=said) as child:
        try:
            # A server says where it is; a stream is looked for by the page's next command, and may say nothing.
            until = time.monotonic() + (60 if words[3] == "serve" else 0)
            while not log.stat().st_size and child.poll() is None and time.monotonic() < until:
                time.sleep(0.1)
            assert child.poll() is None, log.read_text()
            yield
        finally:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()


@pytest.mark.usefixtures("forgetful")
@pytest.mark.filterwarnings("ignore")  # of the libraries that an example uses
@pytest.mark.parametrize("page", [pytest.param(one, marks=pytest.mark.realtime if one in LIVE else ()) for one in LAST])
def test_the_example_runs(page, tmp_path, monkeypatch, capfd):
    text = (DOCS / page).read_text("utf-8").replace("--port 8000", f"--port {free_port()}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    for name, content in SAVED.findall(text):
        Path(name).write_text(content, "utf-8")
    with contextlib.ExitStack() as running:
        for line in "".join(re.findall(r"```bash\n(.*?)```", text, re.S)).splitlines():
            verb, *arguments = shlex.split(line, comments=True)
            assert verb == "arena"
            if arguments[-1] == "&":
                running.enter_context(beside(line, tmp_path / f"{arguments[0]}.log"))
                continue
            capfd.readouterr()
            code = main(arguments)
            said = capfd.readouterr()
            assert code == 0, f"{line}: {said.out}{said.err}"
    assert LAST[page] in said.out


@pytest.mark.filterwarnings("ignore")  # MOABB and MNE warn of their own later versions
def test_the_evaluation_of_the_moabb_page_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("moabb")
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (DOCS / "moabb.md").read_text("utf-8"), re.S).group(1)
    exec(compile(example, "moabb.md", "exec"), {"__name__": "notebook"})
    assert "mean_length_s" in capsys.readouterr().out
