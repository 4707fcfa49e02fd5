"""arena sweep and arena queue, as a person uses them."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
from pathlib import Path

import pytest

from bciarena import cli
from bciarena.database.db import open_database
from bciarena.jobs.queue import Queue
from bciarena.jobs.storage import Storage
from tests.jobs.playing import ARENA, SANDBOX, all_rows, entry_file, imagery_data, timeless, wait_for
from tests.postgres import Server


def sweep(*arguments: str) -> int:
    return cli.main(["sweep", *arguments, "--challenge", "imagery", "--clock", "data", "--sandbox", SANDBOX])


def rows_of(table: Path) -> list[dict[str, str]]:
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def test_a_grid_is_played_once_and_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    entry = f"{entry_file(tmp_path / 'entry')}:Slow"
    one, two = imagery_data(tmp_path / "one", 2, 2), imagery_data(tmp_path / "two", 1, 2)
    table = tmp_path / "table.csv"
    before = sorted(tmp_path.iterdir())
    assert sweep(entry, "--data", str(one), "--out", str(table), "--dry-run") == 0
    assert f"{table}: would play 1 runs; 0 were played before" in capsys.readouterr().out
    assert sorted(tmp_path.iterdir()) == before
    assert sweep(entry, "--data", str(one), "--out", str(table)) == 0
    first = rows_of(table)
    assert [row["verdict"] for row in first] == ["ok"]
    assert float(first[0]["score"]) >= 0
    assert float(first[0]["cpu_s"]) > 0

    capsys.readouterr()
    assert sweep(entry, "--data", str(one), str(two), "--seeds", "2", "--out", str(table), "--dry-run") == 0
    said = capsys.readouterr().out
    assert f"would play {entry} on {two}, seed 1\n" in said
    assert f"on {one}, seed 0\n" not in said
    assert f"{table}: would play 3 runs; 1 were played before" in said
    assert sweep(entry, "--data", str(one), str(two), "--seeds", "2", "--out", str(table)) == 0
    rows = rows_of(table)
    assert [(Path(row["data"]).name, row["seed"]) for row in rows] == [
        ("one", "0"),
        ("one", "1"),
        ("two", "0"),
        ("two", "1"),
    ]
    assert rows[0]["run"] == first[0]["run"]  # not played again

    cut = tmp_path / "table.json"
    (tmp_path / "table.csv.queue").rename(tmp_path / "table.json.queue")
    assert sweep(entry, "--data", str(one), "--shards", "--by-subject", "--out", str(cut)) == 0
    by_subject = json.loads(cut.read_text())
    assert [row["subject"] for row in by_subject] == [1, 2]
    storage = Storage(tmp_path / "table.json.queue" / "storage", tmp_path / "cache")
    ledgers = [timeless(storage.read(run, "ledger.jsonl")) for run in (by_subject[0]["run"], first[0]["run"])]
    assert ledgers[0] == ledgers[1]


def test_an_interrupted_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    entry, data = f"{entry_file(tmp_path / 'entry', 0.003)}:Slow", imagery_data(tmp_path / "data", 1, 2)
    table = tmp_path / "table.csv"
    command = [ARENA, "sweep", entry, "--data", data, "--seeds", "3", "--out", table, "--workers", "1"]
    command += ["--challenge", "imagery", "--clock", "data", "--sandbox", SANDBOX]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    queue = Queue(wait_for(lambda: _there(tmp_path / "table.csv.queue" / "arena.db")))
    wait_for(lambda: [row.state for row in all_rows(queue)].count("finished") == 1, what="one run is done")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    partial = rows_of(table)
    assert [row["state"] for row in partial].count("finished") < 3
    assert sweep(entry, "--data", str(data), "--seeds", "3", "--out", str(table)) == 0
    rows = rows_of(table)
    assert [row["state"] for row in rows] == ["finished"] * 3
    assert rows[0]["run"] == partial[0]["run"]
    assert all(row.faults == 0 for row in all_rows(queue))
    queue.engine.dispose()


def _there(path: Path) -> object:
    return open_database(f"sqlite:///{path}") if path.exists() and path.stat().st_size else None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"--seeds": "0"}, "must be 1 or more"),
        ({"--out": "table.xls"}, ".csv or .json"),
        ({"--data": "nowhere"}, "no such data folder"),
        ({"--model": "@imagery=nowhere"}, "give ENTRY=FOLDER"),
        ({"--clock": "sun"}, "choose think or data"),
        ({"--database": "postgresql://nobody@127.0.0.1:9/x"}, "cannot be used"),
    ],
)
def test_wrong_use_is_one_line(
    change: dict[str, str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = f"{entry_file(tmp_path / 'entry')}:Slow"
    options = {"--data": str(imagery_data(tmp_path / "data", 1, 1)), "--out": str(tmp_path / "t.csv"), **change}
    flat = [word for pair in options.items() for word in pair]
    assert cli.main(["sweep", entry, "--challenge", "imagery", *flat]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_only_data_folders_or_no_such_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = str(imagery_data(tmp_path / "data", 1, 1))
    out = ["--out", str(tmp_path / "t.csv"), "--challenge", "imagery"]
    assert cli.main(["sweep", data, "--data", data, *out]) == 2
    assert "no entries given" in capsys.readouterr().err
    assert cli.main(["sweep", "nothing.zip", "--data", data, *out]) == 2
    assert "nothing.zip" in capsys.readouterr().err


def test_queue_says_what_waits_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bciarena.jobs.queue.RETRY_S", (20.0, 20.0))  # a busy machine takes its time to look
    url = f"sqlite:///{tmp_path / 'a.db'}"
    queue = Queue(open_database(url))
    for _ in range(2):
        queue.put("match", {"challenge": "imagery/1", "name": "mine"}, team="red", team_limit=1)
    failed = queue.put("noop", {}, priority=5)
    lease = queue.lease("w", "here")
    assert lease is not None
    assert lease.job == failed
    from bciarena.jobs.lease import Outcome

    queue.commit(lease, Outcome(error="the wire broke"))
    queue.lease("w", "here")
    assert cli.main(["queue", "--json", "--database", url]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert seen["counts"] == {"queued": 2, "leased": 1, "finished": 0, "failed": 0, "faulted": 0, "cancelled": 0}
    assert seen["running"][0]["machine"] == "here"
    whys = [row["why"] for row in seen["waiting"]]
    assert whys[0].startswith("tried again in")
    assert "the wire broke" in whys[0]
    assert whys[1] == "team red has 1 running (limit 1)"
    assert cli.main(["queue", "--database", url]) == 0
    assert "imagery/1 mine" in capsys.readouterr().out
    assert cli.main(["queue", "--cancel", "2", "--dry-run", "--json", "--database", url]) == 0
    assert json.loads(capsys.readouterr().out) == [{"job": 2, "would": "cancel", "state": "queued"}]
    assert cli.main(["queue", "--retry", "2", "--dry-run", "--database", url]) == 2  # neither faulted nor cancelled
    assert cli.main(["queue", "--cancel", "2", "--database", url]) == 0
    assert cli.main(["queue", "--cancel", "2", "--dry-run", "--database", url]) == 2
    assert cli.main(["queue", "--cancel", "2", "--database", url]) == 2
    assert "has ended already" in capsys.readouterr().err
    assert cli.main(["queue", "--retry", "2", "--database", url]) == 0
    assert cli.main(["queue", "--cancel", "77", "--database", url]) == 2
    assert "no such job" in capsys.readouterr().err
    queue.engine.dispose()


def test_a_sweep_that_leaves_the_work_to_others_outlives_a_restart_of_postgresql(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    url, store = postgres.url(), str(tmp_path / "store")
    entry, data = f"{entry_file(tmp_path / 'entry')}:Slow", imagery_data(tmp_path / "data", 1, 1)
    table = tmp_path / "table.csv"
    command = [ARENA, "sweep", entry, "--data", data, "--out", table, "--workers", "0", "--challenge", "imagery"]
    command += ["--database", url, "--storage", store, "--clock", "data", "--sandbox", SANDBOX]
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    queue = Queue(open_database(url))
    wait_for(lambda: all_rows(queue), what="the grid is queued")
    postgres.stop()
    wait_for(lambda: process.poll() is not None or "is away" in (tmp_path / "log").read_text(), 20)
    postgres.start()
    queue.engine.dispose()
    worker = [ARENA, "worker", "--once", "--slots", "1", "--database", url, "--storage", store]
    assert subprocess.run(worker, stderr=subprocess.DEVNULL, check=False).returncode == 0
    assert process.wait(30) == 0, (tmp_path / "log").read_text()
    assert [row["state"] for row in rows_of(table)] == ["finished"]
    queue.engine.dispose()
