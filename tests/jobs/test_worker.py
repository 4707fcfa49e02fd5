"""Workers as real processes, stopped and killed in the middle; on both databases."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from bciarena.database.db import is_unreachable, open_database, reading
from bciarena.doctor import bubblewrap
from bciarena.jobs import work as work_module
from bciarena.jobs.local import LocalEngine
from bciarena.jobs.queue import Queue
from bciarena.jobs.storage import Storage
from bciarena.jobs.view import snapshot
from bciarena.sandbox import pinning
from tests.jobs.playing import Workers, all_rows, entry_file, freeze, imagery_data, match_payload, states, wait_for
from tests.postgres import Server


def test_a_worker_drains_the_queue_and_leaves_nothing(queue: Queue, workers: Workers) -> None:
    for number in range(12):
        queue.put("noop", {"echo": number}, team="ab"[number % 2])
    failing = queue.put("noop", {"verdict": "crashed"})
    worker = workers.start("--once", "--slots", "2")
    assert worker.wait(60) == 0, workers.log()
    box = bubblewrap()
    assert f"worker: bubblewrap: {box.found}" in workers.log()
    assert f"worker: {pinning.told(2)}\n" in workers.log()
    rows = all_rows(queue)
    assert [row.result["echo"] for row in rows[:12]] == list(range(12))
    assert all(row.state == "finished" and row.attempt == 1 for row in rows[:12])
    assert queue.get(failing).state == "failed"
    assert workers.leftovers() == []
    with reading(queue.engine) as session:
        assert snapshot(session)["workers"] == []


def test_a_killed_workers_jobs_are_done_by_another(queue: Queue, workers: Workers) -> None:
    jobs = [queue.put("noop", {"wait_s": 1.5}) for _ in range(4)]
    victim = workers.start("--slots", "2")
    wait_for(lambda: states(queue).get("leased") == 2, what="two leases")
    children = wait_for(lambda: workers.descendants(victim), what="children")
    victim.kill()
    victim.wait()
    wait_for(lambda: not any(child.is_running() for child in children), 10, "the children die with their worker")
    assert workers.start("--once", "--slots", "2").wait(90) == 0, workers.log()
    rows = [queue.get(job) for job in jobs]
    assert [row.state for row in rows] == ["finished"] * 4
    assert sorted(row.attempt for row in rows) == [1, 1, 2, 2]
    assert sorted(row.faults for row in rows) == [0, 0, 1, 1]
    assert workers.leftovers() == []


def test_a_killed_child_is_a_fault_and_is_tried_again(queue: Queue, workers: Workers) -> None:
    job = queue.put("noop", {"wait_s": 2.0})
    worker = workers.start("--once", "--slots", "1")
    child = wait_for(lambda: states(queue).get("leased") and workers.descendants(worker), what="a child")[0]
    child.kill()
    assert worker.wait(60) == 0, workers.log()
    assert "the process that ran it died (signal SIGKILL)" in workers.log()
    row = queue.get(job)
    assert (row.state, row.attempt, row.faults) == ("finished", 2, 1)


def test_a_stopped_worker_gives_back_uncounted(queue: Queue, workers: Workers) -> None:
    job = queue.put("noop", {"wait_s": 30})
    worker = workers.start("--slots", "1")
    wait_for(lambda: states(queue).get("leased"))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(20) == 0
    row = queue.get(job)
    assert (row.state, row.faults, row.error) == ("queued", 0, "its worker was stopped")
    assert workers.leftovers() == []


def test_cancel_stops_a_running_job(queue: Queue, workers: Workers) -> None:
    long, short = queue.put("noop", {"wait_s": 60}), queue.put("noop", {})
    worker = workers.start("--once", "--slots", "1")
    wait_for(lambda: queue.get(long).progress, what="progress is shown")
    assert queue.cancel(long)
    assert worker.wait(30) == 0, workers.log()
    assert (queue.get(long).state, queue.get(short).state) == ("cancelled", "finished")


def test_delivered_twice_committed_once(queue: Queue, workers: Workers) -> None:
    """A worker that stood still for longer than its lease comes back with a result that is no longer wanted."""
    job = queue.put("noop", {"wait_s": 1.0})
    sleeper = workers.start("--slots", "1", lease_s=2.0)
    wait_for(lambda: states(queue).get("leased"))
    freeze(sleeper, workers.database)
    assert workers.start("--once", "--slots", "1", lease_s=2.0).wait(60) == 0, workers.log()
    done = queue.get(job)
    assert (done.state, done.attempt) == ("finished", 2)
    os.kill(sleeper.pid, signal.SIGCONT)
    wait_for(lambda: "dropped" in workers.log(0) or "lease lost" in workers.log(0), what=workers.log(0))
    after = queue.get(job)
    assert (after.attempt, after.ended_at, after.worker) == (2, done.ended_at, done.worker)


def test_many_jobs_through_random_kills(queue: Queue, workers: Workers) -> None:
    for number in range(60):
        queue.put("noop", {"wait_s": 0.05, "echo": number}, team=f"team{number % 5}", team_limit=2)
    crew = [workers.start("--slots", "2", lease_s=2.0) for _ in range(2)]
    for round_ in range(3):
        wait_for(lambda goal=12 * (round_ + 1): states(queue).get("finished", 0) >= goal, what="progress")
        victim = crew[round_ % 2]
        victim.kill()
        victim.wait()
        crew[round_ % 2] = workers.start("--slots", "2", lease_s=2.0)
    wait_for(lambda: states(queue) == {"finished": 60}, 90, "all done")
    assert [row.result["echo"] for row in all_rows(queue)] == list(range(60))


def test_postgresql_restarts_under_load(postgres: Server, tmp_path: Path) -> None:
    url = postgres.url()
    queue = Queue(open_database(url))
    for number in range(80):
        queue.put("noop", {"wait_s": 0.1, "echo": number})
    crew = Workers(tmp_path, url, str(tmp_path / "storage"))
    try:
        first, second = (crew.start("--slots", "2", lease_s=10.0) for _ in range(2))
        for goal in (15, 40):
            wait_for(lambda goal=goal: states(queue).get("finished", 0) >= goal, what="progress")
            postgres.stop()
            time.sleep(1.5)
            assert first.poll() is None
            assert second.poll() is None
            postgres.start()
            queue.engine.dispose()
        wait_for(lambda: states(queue) == {"finished": 80}, 90, "all done")
        rows = all_rows(queue)
        assert [row.result["echo"] for row in rows] == list(range(80))
        assert "is away, trying again" in crew.log(0) + crew.log(1)
        assert "database is back" in crew.log(0) + crew.log(1)
    finally:
        crew.close()
        queue.engine.dispose()
    assert crew.leftovers() == []


def test_a_session_frozen_inside_a_transaction_holds_up_nobody(postgres: Server) -> None:
    import sqlalchemy as sa

    from bciarena.database.db import LEASE_LOCK

    url = postgres.url()
    frozen, queue = open_database(url, idle_limit_s=1.0), Queue(open_database(url))
    job = queue.put("noop", {})
    with pytest.raises(sa.exc.DBAPIError) as caught, frozen.connect() as connection:  # noqa: PT012
        connection.execute(sa.text(f"select pg_advisory_xact_lock({LEASE_LOCK})"))
        lease = queue.lease("other")  # waits until the server ends the frozen session
        assert lease is not None
        assert lease.job == job
        connection.execute(sa.text("select 1"))
    assert is_unreachable(caught.value)  # a worker that wakes up goes on with a new session
    frozen.dispose()
    queue.engine.dispose()


@pytest.mark.parametrize("engine", ["nosuch", "ray"])
def test_unusable_engines_are_one_line(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bciarena import cli

    where = ["--database", f"sqlite:///{tmp_path}/a.db", "--storage", str(tmp_path / "s")]
    open_database(where[1]).dispose()
    assert cli.main(["worker", *where, "--engine", engine, "--address", "127.0.0.1:9"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "unknown engine" in said or "cannot be reached" in said or "bciarena[ray]" in said


@pytest.mark.parametrize("command", [["worker", "--once"], ["queue"], ["account", "log"], ["account", "reset", "ann"]])
def test_a_mistyped_database_is_not_made(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bciarena import cli

    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    for where in ([], ["--database", f"sqlite:///{tmp_path}/folder/typo.db"]):
        assert cli.main([*command, *where]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "there is no such database" in said
    assert list(tmp_path.iterdir()) == []


def test_a_lone_job_wakes_a_worker_that_was_idle(
    queue: Queue, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not wait for the next look at the queue, which is an hour away here. How fast: arena bench jobs."""
    monkeypatch.setattr(work_module, "LOOK_S", 3600.0)
    work = work_module.Work(queue, storage, LocalEngine(storage, 1), say=print)
    thread = threading.Thread(target=work.run)
    thread.start()
    try:
        for _ in range(3):
            time.sleep(0.3)  # idle by now, whatever woke it before
            job = queue.put("noop", {})
            wait_for(lambda job=job: queue.get(job).state == "finished", what="the worker is woken")
    finally:
        work.stopping.set()
        thread.join(30)


def test_a_stop_of_the_whole_tree_counts_for_nothing(
    queue: Queue, workers: Workers, storage: Storage, tmp_path: Path
) -> None:
    """What systemd and Slurm do: SIGTERM to every process of the tree, box and entry included."""
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 4), entry_file(tmp_path / "entry", 0.02))
    jobs = [queue.put("noop", {"wait_s": 30}), queue.put("match", payload)]
    worker = workers.start("--slots", "2")
    wait_for(lambda: (queue.get(jobs[1]).progress or {}).get("packets"), what="the match plays")
    tree = [*workers.descendants(worker), psutil.Process(worker.pid)]
    for process in tree:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGTERM)
    assert worker.wait(20) == 0, workers.log()
    for job in jobs:
        row = queue.get(job)
        assert (row.state, row.faults, row.error) == ("queued", 0, "its worker was stopped"), workers.log()
    wait_for(lambda: workers.leftovers() == [], 10, "nothing is left")
