"""The Ray engine on a real cluster of two nodes; a node and the dispatcher are killed in the middle."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bciarena.database.db import open_database, writing
from bciarena.jobs.lease import Lease
from bciarena.jobs.perform import perform
from bciarena.jobs.queue import Queue
from bciarena.jobs.shards import enqueue_match
from bciarena.jobs.storage import Storage
from tests.jobs.playing import (
    Workers,
    all_rows,
    entry_file,
    imagery_data,
    match_payload,
    states,
    timeless,
    wait_for,
)

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed (pip install 'bciarena[ray]')"
)


class Cluster:
    """Two nodes with one CPU each; orders go to the process that keeps them."""

    def __init__(self, tmp: Path, cache: Path) -> None:
        self.mark = str(tmp)
        env = {**os.environ, "TMPDIR": self.mark, "ARENA_CACHE": str(cache), "RAY_USAGE_STATS_ENABLED": "0"}
        env |= {"RAY_raylet_start_wait_time_s": "120"}  # a busy machine is no failure
        env |= {"RAY_health_check_period_ms": "500", "RAY_health_check_failure_threshold": "4"}
        env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
        self.sockets = tempfile.mkdtemp(prefix="arena-ray-")  # short: names of sockets are limited to 107 characters
        self.log = tmp / "log.txt"
        env |= {"RAY_TMPDIR": self.sockets}
        program = Path(__file__).with_name("ray_cluster.py")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(program)],
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.address = self._heard("address").split()[1]

    def _heard(self, start: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(start):
                return line
        with self.process:
            raise AssertionError(f"the cluster's process ended: {self.log.read_text()[-2000:]}")

    def order(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        self._heard(f"done {word}")

    def close(self) -> None:
        with self.process:  # closes the pipes and waits
            self.order("end")
        shutil.rmtree(self.sockets, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    tmp = tmp_path_factory.mktemp("ray")
    nodes = Cluster(tmp, tmp_path_factory.mktemp("cache"))
    yield nodes
    nodes.close()
    wait_for(lambda: not _alive(nodes.mark), 20, "no process of the cluster is left")
    assert not list(tmp.glob("arena-work-*/*"))


def _alive(mark: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TMPDIR") == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


@pytest.fixture
def crew(tmp_path: Path, storage: Storage) -> Iterator[tuple[Queue, Workers]]:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    queue = Queue(open_database(url))
    workers = Workers(tmp_path, url, storage.url)
    yield queue, workers
    workers.close()
    queue.engine.dispose()


def test_matches_survive_the_death_of_a_node_and_of_the_dispatcher(
    cluster: Cluster, crew: tuple[Queue, Workers], storage: Storage, tmp_path: Path
) -> None:
    queue, workers = crew
    payload = match_payload(storage, imagery_data(tmp_path / "data"), entry_file(tmp_path / "entry", 0.004))
    alone = perform(Lease(0, 0, "match", payload), storage, lambda _: None)
    expected = timeless(storage.read(alone.run or "", "ledger.jsonl"))
    jobs = [queue.put("match", payload, memory_mb=100) for _ in range(3)]
    with writing(queue.engine) as session:
        jobs.append(enqueue_match(session, payload, subjects=3).id)
    too_big = queue.put("noop", {}, memory_mb=10_000_000)

    def playing(worker: subprocess.Popen[bytes]) -> int:
        held = [row for row in all_rows(queue) if row.state == "leased" and f"-{worker.pid}-" in row.worker]
        return sum(bool((row.progress or {}).get("packets")) for row in held)

    options = ("--engine", "ray", "--address", cluster.address)
    first = workers.start(*options)
    wait_for(lambda: playing(first) == 2, what="one match on each node")
    first.kill()
    first.wait()
    second = workers.start(*options, "--once")
    wait_for(lambda: playing(second) == 2, 90, what="one match on each node, after the dispatcher's death")
    cluster.order("kill")
    wait_for(lambda: "our fault: Ray" in workers.log(), 60, "the dead node is noticed")
    cluster.order("add")
    assert second.wait(180) == 0, workers.log()
    for job in jobs:
        row = queue.get(job)
        assert (row.state, row.verdict) == ("finished", "ok"), row.error
        assert timeless(storage.read(row.run, "ledger.jsonl")) == expected
        assert row.machine
    assert queue.get(too_big).state == "faulted"
    assert "no machine of the Ray cluster" in queue.get(too_big).error
    assert states(queue) == {"finished": len(all_rows(queue)) - 1, "faulted": 1}
    assert workers.leftovers() == []


def test_cancel_ends_a_task_on_the_cluster(cluster: Cluster, crew: tuple[Queue, Workers]) -> None:
    queue, workers = crew
    long, short = queue.put("noop", {"wait_s": 120}), queue.put("noop", {"wait_s": 0.1})
    worker = workers.start("--engine", "ray", "--address", cluster.address, "--once", "--slots", "1")
    wait_for(lambda: queue.get(long).progress, 60, "progress comes through Ray")
    assert queue.cancel(long)
    assert worker.wait(60) == 0, workers.log()
    assert (queue.get(long).state, queue.get(short).state) == ("cancelled", "finished")
