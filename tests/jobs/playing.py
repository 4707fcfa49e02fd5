"""What the tests of workers share: small data, an entry, workers as real processes, ledgers without their times."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy as sa

from bciarena import rulebook
from bciarena.database.db import reading
from bciarena.jobs.model import Job
from bciarena.jobs.queue import Queue
from bciarena.jobs.storage import Storage
from bciarena.sandbox import why_not
from tests.making import write_folder

ARENA = Path(sys.executable).with_name("arena")
TIMES = ("think_s", "cpu_s", "wall_s")
SANDBOX = "none" if why_not() else "bwrap"

ENTRY = '''
import time

class Slow:
    """Answers 0.4 s after each mark, by what it saw; says a word per block; computes a little over each packet."""

    def start(self, info):
        self.left = None

    def step(self, packet):
        time.sleep({pause_s})
        if packet.number == 1:
            print("subject", packet.subject, "block", packet.block, "at", packet.total_start, flush=True)
        if (packet.data[-1] == {mark}).any():
            self.left = 10
        elif self.left:
            self.left -= 1
            if self.left == 0:
                return {answer}
'''


def imagery_data(folder: Path, subjects: int = 3, trials: int = 4) -> Path:
    """Blocks of some seconds, trials of three classes; the last trial goes on to the end of its block."""

    def block(shift: int) -> tuple[int, dict[int, int]]:
        codes = {}
        for trial in range(trials):
            codes[50 + 600 * trial] = 240
            codes[100 + 600 * trial] = 201 + (trial + shift) % 3
        return 600 * trials, codes

    return write_folder(rulebook("imagery"), folder, *[[block(k), block(k + 1)] for k in range(subjects)])


def entry_file(folder: Path, pause_s: float = 0.0, name: str = "slow.py") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    answer = "201 + int(abs(packet.data[1].sum()) * 10) % 3"
    path = folder / name
    path.write_text(ENTRY.format(pause_s=pause_s, mark=249, answer=answer))
    return path


def match_payload(storage: Storage, data: Path, entry: Path, cls: str = "Slow", **more: Any) -> dict[str, Any]:
    """A match of a one-file entry, on the data clock."""
    stored = {"entry": storage.put(entry.parent), "file": f"{entry.name}:{cls}", "data": storage.put(data)}
    return {"challenge": "imagery/1", "clock": "data", "sandbox": SANDBOX, **stored, **more}


def timeless(ledger: bytes) -> list[dict[str, Any]]:
    """A ledger without its timing fields."""
    lines = [json.loads(line) for line in ledger.decode().splitlines()]
    return [{name: value for name, value in line.items() if name not in TIMES} for line in lines]


def wait_for(condition: Callable[[], Any], timeout_s: float = 60.0, what: str = "") -> Any:
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        got = condition()
        if got:
            return got
        time.sleep(0.05)
    raise AssertionError(f"waited {timeout_s:.0f} s in vain: {what or condition}")


def freeze(process: subprocess.Popen[bytes], database: str) -> None:
    """SIGSTOP a worker, but not while it holds SQLite's write lock: that would be another test."""
    while True:
        process.send_signal(signal.SIGSTOP)
        if not database.startswith("sqlite"):
            return  # PostgreSQL itself ends sessions that freeze inside a transaction
        connection = sqlite3.connect(database.removeprefix("sqlite:///"), timeout=1, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            return
        except sqlite3.OperationalError:
            process.send_signal(signal.SIGCONT)
            time.sleep(0.05)
        finally:
            connection.close()


def states(queue: Queue) -> dict[str, int]:
    with reading(queue.engine) as session:
        found = session.execute(sa.select(Job.state, sa.func.count()).group_by(Job.state)).all()
        return {row[0]: row[1] for row in found}


def all_rows(queue: Queue) -> list[Job]:
    with reading(queue.engine) as session:
        rows = list(session.scalars(sa.select(Job).order_by(Job.id)))
        session.expunge_all()
        return rows


class Workers:
    """Workers as processes of their own, each with its log; all gone at the end."""

    def __init__(self, folder: Path, database: str, storage: str) -> None:
        self.folder, self.database, self.storage = folder, database, storage
        self.tmp = folder / "tmp"
        self.tmp.mkdir()
        self.env = {
            **os.environ,
            "TMPDIR": str(self.tmp),
            "ARENA_CACHE": str(folder / "cache"),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *options: str, lease_s: float = 3.0) -> subprocess.Popen[bytes]:
        where = ["--database", self.database, "--storage", self.storage, "--lease-s", str(lease_s)]
        with open(self.folder / f"worker{len(self.started)}.log", "wb") as log:
            process = subprocess.Popen([ARENA, "worker", *where, *options], env=self.env, stderr=log, stdout=log)
        self.started.append(process)
        return process

    def log(self, number: int = -1) -> str:
        number = number % len(self.started)
        return (self.folder / f"worker{number}.log").read_text()

    def descendants(self, process: subprocess.Popen[bytes]) -> list[psutil.Process]:
        try:
            return psutil.Process(process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def leftovers(self) -> list[str]:
        """Processes and files that workers of this test left behind."""
        mark = str(self.tmp)
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("TMPDIR") == mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(f"process {process.pid}: {process.cmdline()}")
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        found += [f"mount {line}" for line in mounts if mark in line]
        return found + [str(path) for path in self.tmp.rglob("*") if path.name != f"arena-work-{os.getuid()}"]

    def close(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
