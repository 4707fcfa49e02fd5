"""Defaults from files, one JSON document for every command, dry runs, the tour, and arena open."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from bciarena.cli import build, main
from bciarena.cli._config import ANYBODYS, options_of
from bciarena.contests import rulebook
from tests.making import write_folder

BOOK = rulebook("imagery")
SILENT = "class Silent:\n    def step(self, packet):\n        return None\n"
DATA_ON_STDOUT = {"export", "account log", "contest export"}
"""They print a table themselves."""
STAY = {
    "serve",
    "worker",
    "bridge",
    "lab show",
    "live subject",
    "live play",
    "live board",
    "session run",
    "demo",
    "bench",
}
"""They go on until they are stopped, or are for the eye; session run and live record print JSON anyway."""
OTHERS = {"live record", "live rescue", "sweep", "contest offer"}


def commands(group=None, above=()):
    for name, one in (group or get_command(build())).commands.items():
        if hasattr(one, "commands"):
            yield from commands(one, (*above, name))
        else:
            yield " ".join((*above, name)), {option for parameter in one.params for option in parameter.opts}


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    """A user's own file of defaults, and a current folder."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("ARENA_CONFIG", str(path))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return path


@pytest.fixture
def data(tmp_path) -> Path:
    return write_folder(BOOK, tmp_path / "data", [(6000, {500: 201, 2500: 202, 4500: 203})])


def test_files_give_defaults_and_the_command_line_wins(own, data, tmp_path, capsys) -> None:
    (tmp_path / "silent.py").write_text(SILENT)
    own.write_text(f'[run]\nclock = "data"\nsandbox = "none"\nchallenge = "imagery"\ndata = "{data}"\n')
    run = ["run", f"{tmp_path}/silent.py:Silent", "--json"]
    assert main([*run, "--out", str(tmp_path / "one")]) == 0
    header = json.loads((tmp_path / "one" / "ledger.jsonl").read_text().splitlines()[0])
    assert (header["clock"], header["sandbox"]) == ("data", "none")
    Path("arena.toml").write_text('[run]\nclock = "think"\n')  # the folder's file is stronger than one's own
    assert main([*run, "--out", str(tmp_path / "two")]) == 0
    assert json.loads((tmp_path / "two" / "ledger.jsonl").read_text().splitlines()[0])["clock"] == "think"
    assert main([*run, "--clock", "data", "--out", str(tmp_path / "three")]) == 0
    assert json.loads((tmp_path / "three" / "ledger.jsonl").read_text().splitlines()[0])["clock"] == "data"
    capsys.readouterr()
    assert main(["config", "run", "--json"]) == 0
    rows = {row["option"]: row for row in json.loads(capsys.readouterr().out)["defaults"]}
    assert (rows["clock"]["value"], rows["clock"]["from"]) == ("think", "arena.toml")
    assert (rows["sandbox"]["value"], rows["sandbox"]["from"]) == ("none", str(own))
    assert (rows["cores"]["value"], rows["cores"]["from"]) == (1, None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[rum]\n", "there is no such command; did you mean run?"),
        ("[run]\nclok = 1\n", "has no such option; did you mean clock?"),
        ("clock = 1\n", "stands outside a command's table"),
        ("[run\n", "config.toml"),
        ('lang = "fr"\n', "choose one of en, zh"),
        ('[run]\ncores = "many"\n', "Invalid value for '--cores'"),
    ],
)
def test_a_wrong_file_is_one_line(own, text, says, capsys, monkeypatch) -> None:
    monkeypatch.delenv("ARENA_LANG")
    own.write_text(text)
    assert main(["run", "x", "--data", "y"]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
    assert main(["--help"]) == 0  # help comes all the same


@pytest.mark.parametrize(
    "text",
    [
        '[run]\nsandbox = "none"',
        "[run]\nforce = true",
        '[run]\nout = "/tmp/x"',
        '[run]\nchallenge = "evil"',
        '[run]\nchallenge = "~/evil"',
        '[run]\nmodel = "/home"',
        '[score]\nrules = "./evil"',
        "[backup]\nkeep = 1",
        "[serve]\nhttps = false",
        '[worker]\naddress = "ray://elsewhere"',
        "[bundle]\nwith-entry = true",
        '[release]\nset = "all"',
    ],
)
def test_a_folders_file_cannot_open_the_box_or_replace_files(own, text, capsys, monkeypatch) -> None:
    """Such a file comes along with other people's packages."""
    monkeypatch.setenv("HOME", str(Path.cwd()))
    Path("evil").mkdir()
    Path("evil", "rules.py").write_text("raise SystemExit('was run')")
    Path("arena.toml").write_text(f"{text}\n")
    assert main(["run", "x", "--data", "y"]) == 2
    assert "may be set in your own file only" in capsys.readouterr().err


def test_a_folders_file_may_set_nothing_that_names_a_file() -> None:
    """All that it may set are numbers, choices and words."""
    paths = set()

    def walk(one) -> None:
        for below in getattr(one, "commands", {}).values():
            walk(below)
        paths.update(name for name, option in options_of(one) if "Path" in str(option.type_descriptor.annotation))

    walk(get_command(build()))
    assert {"out", "data", "home"} <= paths
    assert not paths & ANYBODYS


def test_every_command_that_makes_or_finds_something_has_json() -> None:
    without = {name for name, options in commands() if "--json" not in options}
    assert without == DATA_ON_STDOUT | STAY | OTHERS


def test_every_command_that_writes_where_it_is_told_has_a_dry_run() -> None:
    writes = {name for name, options in commands() if {"--out", "-o"} & options}
    unsafe = {"live record", "live run", "lab verify", "audit", "demo", "account log", "contest export"}
    assert {name for name, options in commands() if "--dry-run" not in options and name in writes} == unsafe


def test_every_command_that_changes_a_site_or_a_queue_has_a_dry_run() -> None:
    changes = {"backup", "restore", "queue", "sweep", "contest create", "contest offer", "account reset", "submit"}
    assert changes <= {name for name, options in commands() if "--dry-run" in options}


def test_errors_are_one_document_too(tmp_path, capsys) -> None:
    assert main(["run", "@imagery", "--data", str(tmp_path / "none"), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["error"] == {
        "kind": "bad_input",
        "message": f"{tmp_path / 'none'}: no such data folder",
        "exit_code": 2,
    }
    assert err.startswith("arena: ")
    (tmp_path / "bad.py").write_text("class Bad:\n    def step(self, packet):\n        raise ValueError('no')\n")
    data = write_folder(BOOK, tmp_path / "data", [(3000, {500: 201})])
    words = ["--challenge", "imagery", "--data", str(data), "--sandbox", "none", "--json"]
    assert main(["run", f"{tmp_path}/bad.py:Bad", *words]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "crashed"  # the score file alone: one document


@pytest.mark.parametrize(
    "words",
    [
        ["new", "imagery", "OUT"],
        ["rulebook", "new", "OUT"],
        ["simulate", "imagery", "--subjects", "1", "--blocks", "1", "--out", "OUT"],
        ["convert", "DATA", "--challenge", "imagery", "--format", "bids", "--out", "OUT"],
        ["pack", "ENTRY", "--challenge", "imagery", "-o", "OUT.zip"],
        ["run", "ENTRY", "--challenge", "imagery", "--data", "DATA", "--sandbox", "none", "--out", "OUT"],
    ],
)
def test_a_dry_run_writes_nothing_and_says_what_it_would(words, tmp_path, data, capsys) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (tmp_path / "silent.py").write_text(SILENT)
    names = {"OUT": place / "out", "OUT.zip": place / "out.zip", "DATA": data, "ENTRY": f"{tmp_path}/silent.py:Silent"}
    assert main([*(str(names.get(word, word)) for word in words), "--dry-run"]) == 0
    assert f"would write {place}/out" in capsys.readouterr().out
    assert list(place.iterdir()) == []
    assert main([str(names.get(word, word)) for word in words]) == 0  # the next one is none
    assert len(list(place.iterdir())) == 1


def test_open_says_where_the_page_is_without_a_browser(tmp_path, data, capsys, monkeypatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "silent.py").write_text(SILENT)
    words = ["--challenge", "imagery", "--data", str(data), "--sandbox", "none", "--out", str(tmp_path / "run")]
    assert main(["run", f"{tmp_path}/silent.py:Silent", *words]) == 0
    capsys.readouterr()
    assert main(["open", str(tmp_path / "run"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["opened"] is False
    page = Path(told["address"].removeprefix("file://"))
    assert "<html" in page.read_text("utf-8")
    assert main(["open", str(tmp_path / "data")]) == 2
    marker = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {marker}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    assert main(["open", str(tmp_path / "run")]) == 0
    assert page.as_uri() == marker.read_text().strip()


def test_the_tour_runs_in_a_pipe(tmp_path) -> None:
    command = [sys.executable, "-c", "from bciarena.cli import run; run()", "demo", "--out", str(tmp_path / "tour")]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert "[11/11]" in done.stdout
    assert "equals the stored score" in done.stdout
    assert (tmp_path / "tour" / "report.html").is_file()


def test_completion_is_there() -> None:
    command = [sys.executable, "-c", "from bciarena.cli import run; run()", "--show-completion", "bash"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "_ARENA_COMPLETE" in done.stdout, done.stderr
