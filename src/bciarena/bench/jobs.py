"""What the queue costs and what it survives: per job, under random kills, with one and two workers, after a death."""

from __future__ import annotations

import atexit
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from bciarena.bench import onset, postgres, sample
from bciarena.database.db import open_database, reading
from bciarena.jobs.lease import Outcome
from bciarena.jobs.model import Job
from bciarena.jobs.queue import LEASE_S, Queue
from bciarena.jobs.storage import Storage
from bciarena.recording import write_contest
from bciarena.sandbox import why_not

JOBS, SUBMISSIONS, MATCHES = 200, 500, 8
ALONE, IDLE_S = 30, 1.5
ENTRY = """
import numpy as np

class Busy:
    def step(self, packet):
        np.linalg.eigvalsh(self.m)

    def start(self, info):
        self.m = np.random.default_rng(0).standard_normal((60, 60))
"""


class Crew:
    """Worker processes on one queue."""

    def __init__(self, url: str, folder: Path, lease_s: float = LEASE_S) -> None:
        self.url, self.folder, self.lease_s = url, folder, lease_s
        self.queue = Queue(open_database(url))
        self.workers: list[subprocess.Popen[bytes]] = []
        atexit.register(self.close)

    def start(self, slots: int) -> subprocess.Popen[bytes]:
        run = "import sys; from bciarena.cli import run; run(sys.argv[1:])"
        where = ["--database", self.url, "--storage", str(self.folder / "storage"), "--lease-s", str(self.lease_s)]
        worker = subprocess.Popen(
            [sys.executable, "-c", run, "worker", *where, "--slots", str(slots)],
            env={**os.environ, "ARENA_CACHE": str(self.folder / "cache")},
            stderr=subprocess.DEVNULL,
        )
        self.workers.append(worker)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        worker.kill()
        worker.wait()
        self.workers.remove(worker)

    def ended(self) -> int:
        with reading(self.queue.engine) as session:
            query = sa.select(sa.func.count()).select_from(Job).where(Job.state.in_(("finished", "failed", "faulted")))
            return session.scalar(query) or 0

    def rows(self) -> list[Job]:
        with reading(self.queue.engine) as session:
            rows = list(session.scalars(sa.select(Job).order_by(Job.id)))
            session.expunge_all()
            return rows

    def close(self) -> None:
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.wait()
        self.workers.clear()
        self.queue.engine.dispose()
        atexit.unregister(self.close)


def wait(condition: Callable[[], Any], pause_s: float = 0.1) -> float:
    """Seconds until a condition is true."""
    began = time.perf_counter()
    while not condition():
        time.sleep(pause_s)
    return time.perf_counter() - began


def _cpu_s(pid: int) -> float:
    """CPU time of a worker and its children so far."""
    ticks = 0
    for one in [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]:
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def bare(url: str, kind: str) -> dict[str, Any]:
    """Put, lease, heartbeat and commit, without any worker."""
    queue = Queue(open_database(url))
    times = []
    cpu_s = time.process_time()
    for _ in range(JOBS):
        began = time.perf_counter()
        queue.put("noop", {}, team="bench")
        lease = queue.lease("bench")
        assert lease is not None
        queue.beat(lease, {"packets": 1})
        queue.commit(lease, Outcome("ok", {"score": 0.0}))
        times.append(time.perf_counter() - began)
    cpu_s = time.process_time() - cpu_s
    queue.engine.dispose()
    ms = np.array(times) * 1e3
    return {
        "measure": f"database work per job, {kind}",
        "median_ms": float(np.median(ms)),
        "p99_ms": float(np.percentile(ms, 99)),
        "cpu_ms": cpu_s / JOBS * 1e3,
    }


def overhead(url: str, kind: str, folder: Path) -> dict[str, Any]:
    """A no-op match through a real worker with one slot: all that is not the match itself."""
    crew = Crew(url, folder)
    done = len(crew.rows())
    crew.queue.put("noop", {})
    worker = crew.start(1)
    wait(lambda: crew.ended() == done + 1)  # processes are up now
    os.kill(worker.pid, signal.SIGSTOP)
    for _ in range(JOBS):
        crew.queue.put("noop", {})
    cpu_s = _cpu_s(worker.pid)
    os.kill(worker.pid, signal.SIGCONT)
    took_s = wait(lambda: crew.ended() == done + 1 + JOBS)
    cpu_s = _cpu_s(worker.pid) - cpu_s
    crew.close()
    return {
        "measure": f"queue overhead per no-op job, {kind} (goal: under 50 ms)",
        "drained_ms": took_s / JOBS * 1e3,
        "worker_cpu_ms": cpu_s / JOBS * 1e3,
    }


def alone(url: str, kind: str, folder: Path) -> dict[str, Any]:
    """One job for a worker that has been idle; beside it what the machine itself does to whoever waits meanwhile."""
    crew = Crew(url, folder)
    done = len(crew.rows())
    crew.queue.put("noop", {})
    crew.start(1)
    wait(lambda: crew.ended() == done + 1)
    late, put, waited, whole = [], [], [], []
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            began = time.perf_counter()
            time.sleep(0.005)
            late.append(time.perf_counter() - began - 0.005)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    for _ in range(ALONE):
        time.sleep(IDLE_S)
        began = time.time()
        job = crew.queue.put("noop", {})
        queued = time.time()
        wait(lambda job=job: crew.queue.get(job).state == "finished", 0.02)  # type: ignore[misc]
        row = crew.queue.get(job)
        put.append(queued - began)
        waited.append(max(0.0, (row.started_at or 0.0) - queued))
        whole.append((row.ended_at or 0.0) - began)
    over.set()
    watcher.join()
    crew.close()
    return {
        "measure": f"a lone job for a worker idle for {IDLE_S:g} s, {kind} (goal: has it within 100 ms)",
        "queued_to_taken_median_ms": float(np.median(waited) * 1e3),
        "queued_to_taken_longest_ms": max(waited) * 1e3,
        "queueing_median_ms": float(np.median(put) * 1e3),
        "queueing_longest_ms": max(put) * 1e3,
        "whole_median_ms": float(np.median(whole) * 1e3),
        "machine_woke_a_sleeper_late_by_ms": max(late) * 1e3,
        "load": os.getloadavg()[0],
    }


def kills(url: str, kind: str, folder: Path) -> dict[str, Any]:
    """500 submissions of 50 teams, two workers, one of them killed after every 10 to 40 jobs."""
    crew = Crew(url, folder, lease_s=3.0)
    before = {row.id for row in crew.rows()}
    for number in range(SUBMISSIONS):
        crew.queue.put("noop", {"wait_s": 0.05, "echo": number}, team=f"team {number % 50}", team_limit=2)
    began, dead, dice = time.perf_counter(), 0, random.Random(1)
    for _ in range(2):
        crew.start(2)
    all_of_them = len(before) + SUBMISSIONS
    while (now := crew.ended()) < all_of_them:
        goal = min(now + dice.randint(10, 40), all_of_them)
        wait(lambda goal=goal: crew.ended() >= goal)  # type: ignore[misc]
        if goal < all_of_them:
            crew.kill(dice.choice(crew.workers))
            crew.start(2)
            dead += 1
    took_s = time.perf_counter() - began
    rows = [row for row in crew.rows() if row.id not in before]
    crew.close()
    echoes = [(row.result or {}).get("echo") for row in rows if row.state == "finished"]
    return {
        "measure": f"{SUBMISSIONS} submissions, 2 workers killed at random, {kind}",
        "kills": dead,
        "lost": len(set(range(SUBMISSIONS)) - set(echoes)),
        "doubled": len(echoes) - len(set(echoes)),
        "repeated_attempts": sum(row.attempt - 1 for row in rows),
        "seconds": took_s,
    }


def notice(url: str, kind: str, folder: Path) -> dict[str, Any]:
    """From kill -9 of a worker until another one has its job."""
    crew = Crew(url, folder)
    job = crew.queue.put("noop", {"wait_s": 60}, priority=9)
    victim = crew.start(1)
    wait(lambda: crew.queue.get(job).state == "leased")
    other = crew.start(1)
    time.sleep(3)
    crew.kill(victim)
    seconds = wait(lambda: crew.queue.get(job).attempt == 2)
    crew.queue.cancel(job)
    assert other.poll() is None
    crew.close()
    return {"measure": f"time to notice a dead worker, {kind}, lease of {LEASE_S:.0f} s", "seconds": seconds}


def sweep(folder: Path) -> list[dict[str, Any]]:
    """The same grid of real matches with one and with two slots."""
    book = sample()
    data = np.random.default_rng(0).standard_normal((len(book.channels) + 1, 20_000)).astype(np.float32)
    data[-1] = 0
    data[-1, 500::2000] = onset(book)
    write_contest(folder / "data" / "S01" / "block_1.npz", data, book.rate, book.channels)
    (folder / "entry").mkdir()
    (folder / "entry" / "busy.py").write_text(ENTRY)
    storage = Storage(folder / "storage").make()
    payload = {"challenge": book.id, "entry": storage.put(folder / "entry"), "file": "busy.py:Busy", "clock": "data"}
    payload |= {"data": storage.put(folder / "data"), "sandbox": "none" if why_not() else "bwrap"}
    took, match_s, job_s = {}, [], []
    for slots in (1, 2):
        crew = Crew(f"sqlite:///{folder / f'sweep{slots}.db'}", folder)
        for _ in range(slots):
            crew.queue.put("noop", {"wait_s": 1.0})
        crew.start(slots)
        wait(lambda crew=crew, slots=slots: crew.ended() == slots)  # type: ignore[misc]
        for seed in range(MATCHES):
            crew.queue.put("match", {**payload, "seed": seed})
        took[slots] = wait(lambda crew=crew, slots=slots: crew.ended() == slots + MATCHES)  # type: ignore[misc]
        for row in crew.rows()[slots:]:
            if row.state != "finished" or row.result is None or row.ended_at is None or row.started_at is None:
                raise RuntimeError(f"a match of the bench is {row.state}: {row.error}")
            match_s.append(row.result["wall_s"])
            job_s.append(row.ended_at - row.started_at)
        crew.close()
    return [
        {
            "measure": f"sweep of {MATCHES} matches (2000 packets each), 1 and 2 at once",
            "one_s": took[1],
            "two_s": took[2],
            "speed_up": took[1] / took[2],
        },
        {
            "measure": "a match's job beyond the match itself (fetch, open, score, store)",
            "median_ms": float(np.median(np.array(job_s) - np.array(match_s)) * 1e3),
        },
    ]


def main(on_row: Callable[[dict[str, Any]], None] | None = None) -> list[dict[str, Any]]:
    """All measurements, as rows; where PostgreSQL is not installed a row says so."""
    rows: list[dict[str, Any]] = []

    def add(row: dict[str, Any]) -> None:
        rows.append(row)
        if on_row:
            on_row(row)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that server and folder are removed even then
    add({"measure": "load of the machine before", "average": os.getloadavg()[0]})
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as place:
        folder = Path(place)
        programs = postgres.programs()
        server = postgres.Server(programs) if programs else None
        try:
            urls: dict[str, Callable[[str], str]] = {"SQLite": lambda name: f"sqlite:///{folder / name}.db"}
            if server:
                urls["PostgreSQL"] = server.url
            else:
                add({"measure": "PostgreSQL", "left out": "not installed"})
            for kind, url in urls.items():
                add(bare(url("bare"), kind))
                add(overhead(url("overhead"), kind, folder))
                add(alone(url("alone"), kind, folder))
                add(kills(url("kills"), kind, folder))
                add(notice(url("notice"), kind, folder))
        finally:
            if server:
                server.close()
        for row in sweep(folder):
            add(row)
    return rows
