"""How fast a full board is served: 1,000 teams, 50,000 submissions, 200 requests a second, on both databases."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from bciarena.bench import postgres, sample
from bciarena.database.db import open_database
from bciarena.jobs.model import Job
from bciarena.processes import own_environment, own_python
from bciarena.service.models import Account, Contest, Entry, Phase, Result, Submission, Team, Version

TEAMS, SUBMISSIONS, PER_S, SECONDS = 1_000, 50_000, 200, 20
LINES = 64  # open connections of the client
START_S = 120.0


def _block(number: int, score: float) -> dict[str, Any]:
    """A block of twelve, four to a person, of one right imagery trial that scores so many bits a minute."""
    length_n = (60 * log2(3) / max(score, 1e-6) - 0.5) * 250
    sums = {"trials": 1, "correct": 1, "length_n": length_n}
    return {"subject": 1 + (number - 1) // 4, "block": number, "score": score, "sums": sums}


def fill(url: str) -> None:
    """A contest in its last days: every team has fifty scored runs on twelve blocks."""
    rng = np.random.default_rng(1)
    skill = rng.normal(40, 12, TEAMS).clip(1)
    runs = np.arange(SUBMISSIONS)
    team_of = runs % TEAMS
    blocks = rng.normal(skill[team_of][:, None], 6, (SUBMISSIONS, 12)).clip(0)
    now = time.time()
    with open_database(url).begin() as database:

        def add(table: type[Any], rows: list[dict[str, Any]]) -> None:
            for start in range(0, len(rows), 5000):
                database.execute(sa.insert(table), rows[start : start + 5000])

        add(Account, [{"id": 1, "name": "bench", "folded": "bench", "password": "-", "role": "operator"}])
        add(Contest, [{"id": 1, "slug": "bench", "title": "Bench", "rulebook": sample().id, "owner_id": 1}])
        add(Phase, [{"id": 1, "contest_id": 1, "name": "final", "data": "tree-none", "hidden_data": True}])
        add(Team, [{"id": n + 1, "name": f"Team {n}", "folded": f"team {n}"} for n in range(TEAMS)])
        add(Entry, [{"id": n + 1, "team_id": n + 1, "name": "e", "challenge": sample().name} for n in range(TEAMS)])
        version = {"number": 1, "package": "file-none", "filename": "e.zip", "size": 1, "by": 1}
        add(Version, [{"id": n + 1, "entry_id": n + 1, **version} for n in range(TEAMS)])
        add(Job, [{"id": int(n) + 1, "kind": "match", "state": "finished", "verdict": "ok"} for n in runs])
        add(
            Submission,
            [
                {"id": n + 1, "phase_id": 1, "team_id": t + 1, "version_id": t + 1, "by": 1, "job_id": n + 1}
                | {"created_at": now - SUBMISSIONS + n}
                for n, t in enumerate(team_of.tolist())
            ],
        )
        common = {"phase_id": 1, "rulebook": sample().id, "verdict": "ok", "sandbox": "bwrap", "ranked": True}
        add(
            Result,
            [
                {"submission_id": n + 1, "job_id": n + 1, "team_id": t + 1, "score": float(row.mean()), **common}
                | {"low": float(row.mean() - 4), "high": float(row.mean() + 4), "reason": "", "current": True}
                | {"metrics": {"accuracy": 0.8, "mean_length_s": 1.5}}
                | {"blocks": [_block(b, float(s)) for b, s in enumerate(row, 1)]}
                for (n, t), row in zip(enumerate(team_of.tolist()), blocks, strict=True)
            ],
        )


class Server:
    """The site in a separate process, by default without workers."""

    def __init__(self, home: Path, url: str, workers: int = 0) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        where = ["--home", str(home), "--database", url, "--workers", str(workers), "--port", str(self.port)]
        command = own_python("bciarena", "serve", *where)
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=own_environment())
        until = time.monotonic() + START_S
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if time.monotonic() > until or self.process.poll() is not None:
                self.close()
                raise RuntimeError("the site did not start")
            time.sleep(0.1)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)


async def load(port: int, path: str, per_s: float, seconds: float) -> tuple[list[float], int]:
    """Send requests at fixed times, however slow the answers; latencies from those times in s, and a page's size."""
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(LINES):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    ask = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept-encoding: gzip\r\n\r\n".encode()
    took: list[float] = []
    size = 0
    began = time.perf_counter() + 0.1

    async def one(at: float) -> None:
        nonlocal size
        await asyncio.sleep(max(at - time.perf_counter(), 0))
        reader, writer = await free.get()
        writer.write(ask)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise RuntimeError(f"the site answered {head[:60]!r}")
        size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(size)
        took.append(time.perf_counter() - at)
        free.put_nowait((reader, writer))

    await asyncio.gather(*(one(began + n / per_s) for n in range(int(per_s * seconds))))
    while not free.empty():
        _, writer = free.get_nowait()
        writer.close()
        await writer.wait_closed()
    return took, size


def measure(kind: str, url: str, home: Path) -> dict[str, Any]:
    fill(url)
    server = Server(home, url)
    try:
        began = time.perf_counter()
        asyncio.run(load(server.port, "/contests/bench/board", 1, 1))
        first_s = time.perf_counter() - began - 0.1
        took, size = asyncio.run(load(server.port, "/contests/bench/board", PER_S, SECONDS))
    finally:
        server.close()
    p50, p99 = np.percentile(took, [50, 99]) * 1000
    return {
        "measure": f"board page at {PER_S} requests/s, {TEAMS} teams, {SUBMISSIONS} submissions, {kind}",
        "p50_ms": float(p50),
        "p99_ms": float(p99),
        "max_ms": float(max(took) * 1000),
        "requests": len(took),
        "first_page_s": first_s,
        "page_kb_gzip": size / 1000,
    }


def main(on_row: Callable[[dict[str, Any]], None] = lambda _: None) -> list[dict[str, Any]]:
    """Rows for SQLite and, where it is installed, PostgreSQL."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        home = Path(folder)
        rows.append(measure("SQLite", f"sqlite:///{home / 'bench.db'}", home / "one"))
        on_row(rows[-1])
        programs = postgres.programs()
        if programs is not None:
            server = postgres.Server(programs)
            try:
                rows.append(measure("PostgreSQL", server.url(), home / "two"))
                on_row(rows[-1])
            finally:
                server.close()
    return rows
