"""Real matches in real boxes through the queue: the same ledger as an undisturbed local run, whatever is killed."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bciarena.clocks import Reference
from bciarena.database.db import writing
from bciarena.jobs import perform as perform_module
from bciarena.jobs import queue as queue_module
from bciarena.jobs.lease import Lease, Outcome
from bciarena.jobs.local import LocalEngine
from bciarena.jobs.perform import perform
from bciarena.jobs.queue import Queue
from bciarena.jobs.shards import enqueue_match
from bciarena.jobs.storage import Storage
from bciarena.jobs.work import Work
from tests.jobs.playing import (
    SANDBOX,
    Workers,
    all_rows,
    entry_file,
    freeze,
    imagery_data,
    match_payload,
    states,
    timeless,
    wait_for,
)


def undisturbed(storage: Storage, payload: dict[str, Any]) -> list[dict[str, Any]]:
    """The ledger of a run without any queue."""
    outcome = perform(Lease(0, 0, "match", payload), storage, lambda _: None)
    assert outcome.run, outcome
    return timeless(storage.read(outcome.run, "ledger.jsonl"))


def test_killed_in_the_middle_and_delivered_twice(
    queue: Queue, workers: Workers, storage: Storage, tmp_path: Path
) -> None:
    payload = match_payload(storage, imagery_data(tmp_path / "data"), entry_file(tmp_path / "entry", 0.002))
    expected = undisturbed(storage, payload)
    jobs = [queue.put("match", {**payload, "seed": 0}, team=team) for team in "ab"]
    with writing(queue.engine) as session:
        jobs.append(enqueue_match(session, payload, subjects=3).id)

    def playing(worker: Any) -> bool:
        held = [row for row in all_rows(queue) if row.state == "leased" and f"-{worker.pid}-" in row.worker]
        return any((row.progress or {}).get("packets") for row in held)

    victim = workers.start("--slots", "1")
    wait_for(lambda: playing(victim), what="a match plays")
    boxes = workers.descendants(victim)
    victim.kill()
    victim.wait()
    wait_for(lambda: not any(box.is_running() for box in boxes), 15, "boxes die with their worker")
    sleeper = workers.start("--slots", "1")
    wait_for(lambda: playing(sleeper), what="a match plays again")
    freeze(sleeper, workers.database)
    assert workers.start("--once", "--slots", "2").wait(120) == 0, workers.log()
    os.kill(sleeper.pid, signal.SIGCONT)
    wait_for(lambda: "dropped" in workers.log(1) or "lease lost" in workers.log(1), 20, "the sleeper notices")
    sleeper.terminate()
    sleeper.wait(30)
    for job in jobs:
        row = queue.get(job)
        assert (row.state, row.verdict) == ("finished", "ok"), row.error
        assert timeless(storage.read(row.run, "ledger.jsonl")) == expected
        said = storage.read(row.run, "stdout.txt").decode().splitlines()
        assert [line.split()[1] for line in said] == ["1", "1", "2", "2", "3", "3"]
    assert states(queue) == {"finished": len(all_rows(queue))}
    assert workers.leftovers() == []


class Trouble:
    """A worker in this process, so that a test can look at it while it works."""

    def __init__(self, queue: Queue, storage: Storage) -> None:
        self.lines: list[str] = []
        self.work = Work(queue, storage, LocalEngine(storage, 1), say=self.lines.append, once=True)

    def run(self) -> None:
        self.work.run()


@pytest.fixture
def sqlite_queue(tmp_path: Path) -> Any:
    from bciarena.database.db import open_database

    engine = open_database(f"sqlite:///{tmp_path / 'arena.db'}")
    yield Queue(engine)
    engine.dispose()


def test_verdicts_and_invalid_entries_fail_and_are_not_repeated(
    sqlite_queue: Queue, storage: Storage, tmp_path: Path
) -> None:
    data = imagery_data(tmp_path / "data", 1, 2)
    crash = tmp_path / "crash" / "crash.py"
    crash.parent.mkdir()
    crash.write_text("class Slow:\n    def step(self, packet):\n        return 1 // (packet.number - 3)\n")
    crashing = sqlite_queue.put("match", match_payload(storage, data, crash))
    missing = sqlite_queue.put("match", match_payload(storage, data, crash, cls="Nobody"))
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\x03\x04 this is no archive")
    unreadable = sqlite_queue.put(
        "match", {**match_payload(storage, data, crash), "entry": storage.put(broken), "file": None}
    )
    Trouble(sqlite_queue, storage).run()
    row = sqlite_queue.get(crashing)
    assert (row.state, row.verdict, row.attempt) == ("failed", "crashed", 1)
    assert "ZeroDivisionError" in row.error
    assert json.loads(storage.read(row.run, "score.json"))["verdict"] == "crashed"
    for job in (missing, unreadable):
        row = sqlite_queue.get(job)
        assert (row.state, row.attempt) == ("failed", 1)
        assert row.verdict in ("invalid_entry", "import_error")
        assert row.error


def test_damaged_recording_faults_with_one_line_and_the_queue_goes_on(
    sqlite_queue: Queue, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "RETRY_S", (0.1, 0.1))
    entry = entry_file(tmp_path / "entry")
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 2), entry)
    good = sqlite_queue.put("match", payload, priority=-1)
    other = match_payload(storage, imagery_data(tmp_path / "other", 2, 1), entry)
    bad = sqlite_queue.put("match", other)
    block = next(path for path in (tmp_path / "other").rglob("block_2.npz"))
    stored = Path(storage.root) / "file"
    victim = next(path for path in stored.rglob("*") if path.is_file() and path.read_bytes() == block.read_bytes())
    content = victim.read_bytes()
    victim.chmod(0o644)
    victim.write_bytes(content[:-9] + b"x" + content[-8:])
    trouble = Trouble(sqlite_queue, storage)
    trouble.run()
    row = sqlite_queue.get(bad)
    assert (row.state, row.faults) == ("faulted", 3)
    assert "digest does not match" in row.error
    assert "\n" not in row.error
    assert sqlite_queue.get(good).state == "finished"
    victim.write_bytes(content)  # mended: an operator tries again
    assert sqlite_queue.retry(bad)
    Trouble(sqlite_queue, storage).run()
    assert sqlite_queue.get(bad).state == "finished"


def test_full_disk_loses_nothing_and_goes_on_when_there_is_room(
    sqlite_queue: Queue, small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bciarena.jobs import work as worker_module

    monkeypatch.setattr(worker_module, "UNWELL_WAIT_S", (0.3, 0.6))
    storage = Storage(small_disk / "store", tmp_path / "cache").make()
    small = tmp_path / "data"
    job = sqlite_queue.put("match", match_payload(storage, imagery_data(small, 1, 1), entry_file(tmp_path / "entry")))
    ballast = small_disk / "ballast"
    with open(ballast, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    trouble = Trouble(sqlite_queue, storage)
    seen: list[tuple[str, int, str | None]] = []

    def relieve(line: str) -> None:
        trouble.lines.append(line)
        if "disk is full" in line:
            row = sqlite_queue.get(job)
            seen.append((row.state, row.faults, row.error))
            ballast.unlink(missing_ok=True)

    trouble.work.say = relieve
    trouble.run()
    assert seen[0][:2] == ("queued", 0)
    assert "disk is full" in (seen[0][2] or "")
    row = sqlite_queue.get(job)
    assert (row.state, row.faults) == ("finished", 0), trouble.lines


def test_unknown_kind_is_refused_for_good(sqlite_queue: Queue, storage: Storage) -> None:
    job = sqlite_queue.put("dance", {})
    Trouble(sqlite_queue, storage).run()
    row = sqlite_queue.get(job)
    assert (row.state, row.attempt) == ("faulted", 1)
    assert "no job of kind 'dance'" in row.error


def test_a_join_whose_shard_faulted_says_so(sqlite_queue: Queue, storage: Storage, tmp_path: Path) -> None:
    payload = match_payload(storage, imagery_data(tmp_path / "data", 2, 1), entry_file(tmp_path / "entry"))
    with writing(sqlite_queue.engine) as session:
        join = enqueue_match(session, payload, subjects=2).id
    lease = sqlite_queue.lease("test")
    assert lease is not None
    sqlite_queue.commit(lease, Outcome(error="gone", final=True))
    Trouble(sqlite_queue, storage).run()
    row = sqlite_queue.get(join)
    assert (row.state, row.attempt) == ("faulted", 1)
    assert "the shard of subject 1" in row.error
    assert sqlite_queue.retry(join)
    Trouble(sqlite_queue, storage).run()
    assert sqlite_queue.get(join).state == "finished"


def test_where_boxes_do_not_work_a_match_waits_uncounted(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 1), entry_file(tmp_path / "entry"))
    perform_module._no_box.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))  # no bwrap on it
    outcome = perform(Lease(0, 0, "match", {**payload, "sandbox": "bwrap"}), storage, lambda _: None)
    perform_module._no_box.cache_clear()
    assert outcome.unwell
    assert "bubblewrap" in outcome.error


def test_a_recording_damaged_behind_a_warm_cache_is_not_scored(
    sqlite_queue: Queue, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "RETRY_S", (0.1, 0.1))
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 2), entry_file(tmp_path / "entry"))
    first = sqlite_queue.put("match", payload)
    Trouble(sqlite_queue, storage).run()
    assert sqlite_queue.get(first).state == "finished"
    name = "S01/block_1.npz"
    victim = Path(storage.where("file", storage.manifest(payload["data"])[name][0]))
    content = victim.read_bytes()
    victim.chmod(0o644)
    import numpy as np

    with np.load(victim) as block:
        parts = {**block}
    parts["data"] = parts["data"].copy()
    codes = parts["data"][-1]  # a valid recording still, with other answers
    parts["data"][-1] = np.where(codes == 201, 202, np.where(codes == 202, 201, codes))
    with open(victim, "r+b") as file:
        np.savez(file, **parts)
        file.truncate()
    second = sqlite_queue.put("match", payload)
    Trouble(sqlite_queue, storage).run()
    row = sqlite_queue.get(second)
    assert (row.state, row.verdict) == ("faulted", None)
    assert "digest does not match" in row.error
    victim.write_bytes(content)


def test_a_run_on_another_recording_than_the_jobs_is_no_result(storage: Storage, tmp_path: Path) -> None:
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 1), entry_file(tmp_path / "entry"))
    wrong = {**payload, "data_digest": "0" * 64}
    outcome = perform(Lease(0, 0, "match", wrong), storage, lambda _: None)
    assert outcome.verdict == ""
    assert "its digest differs" in outcome.error


def test_storage_that_goes_away_under_a_worker_loses_nothing(
    sqlite_queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bciarena.jobs import work as worker_module

    monkeypatch.setattr(worker_module, "UNWELL_WAIT_S", (0.3, 0.6))
    root, elsewhere = tmp_path / "mnt" / "store", tmp_path / "elsewhere"
    root.parent.mkdir()
    storage = Storage(root, tmp_path / "cache").make()
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 2), entry_file(tmp_path / "entry", 0.002))
    jobs = [sqlite_queue.put("match", {**payload, "seed": seed}) for seed in range(3)]
    trouble = Trouble(sqlite_queue, storage)

    def happen(line: str) -> None:
        trouble.lines.append(line)
        if line.startswith(f"job {jobs[0]}: ok"):
            root.rename(elsewhere)
        elif "is away" in line:
            assert list(root.parent.iterdir()) == []  # nothing is made in its stead
            elsewhere.rename(root)

    trouble.work.say = happen
    trouble.run()
    assert any("takes no jobs for now" in line for line in trouble.lines)
    for job in jobs:
        row = sqlite_queue.get(job)
        assert (row.state, row.faults) == ("finished", 0), trouble.lines
        assert storage.read(row.run, "ledger.jsonl")


@pytest.mark.skipif(SANDBOX == "none", reason="ranked runs need boxes")
def test_a_ranked_run_is_put_back_while_the_machine_is_disturbed_but_not_for_ever(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 1), entry_file(tmp_path / "entry"))
    payload |= {"clock": "think", "ranked": True}
    monkeypatch.setenv("ARENA_DISTURBED", "2")

    def played(attempt: int, times: float, **more: Any) -> Outcome:
        monkeypatch.setattr(perform_module, "reference_load", lambda: Reference(0.02 * times, 0.02))
        return perform(Lease(0, attempt, "match", payload | more), storage, lambda _: None)

    last = perform_module.ATTEMPTS_FOR_QUIET
    for attempt in (1, last - 1):
        outcome = played(attempt, 2.5)
        assert (outcome.later, outcome.verdict, outcome.run) == (True, "", None), outcome
        assert outcome.error == "the machine is disturbed: the reference load took 2.5 times its best (limit 2)"
    ranked = played(last, 2.5)
    assert ranked.verdict == "ok", ranked
    assert ranked.result is not None
    assert ranked.result["notes"] == [f"played all the same: {outcome.error}"]
    assert ranked.result["timing"]["reference_times_best"] == 2.5
    assert 0 < ranked.result["timing"]["think_p50_ms"] <= ranked.result["timing"]["think_p99_ms"]
    header = timeless(storage.read(ranked.run or "", "ledger.jsonl"))[0]
    assert header["reference_load"] == {"took_s": 0.05, "best_s": 0.02}
    quiet, own = played(1, 1.9), played(1, 2.5, ranked=False)
    assert [one.result and one.result["notes"] for one in (quiet, own)] == [[], []]
