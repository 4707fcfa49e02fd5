"""A simulated deadline evening: teams that submit, more and more towards the end, and people who watch the board.

The whole evening has 250 teams with five submissions each in its last hour and 2,000 open boards. ``scale`` divides
both; the last seconds are played in real time against a separate site on this machine (127.0.0.1): a real
server, keeper and worker, boxed matches. A model - CPU time of each kind of request, measured alone, times how often it
occurs - predicts what the server needs; two scales show whether the prediction can be trusted for the whole evening.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import tempfile
import time
import zipfile
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from bciarena.bench import sample
from bciarena.bench.site import Server

TEAMS, EACH, VIEWERS = 250, 5, 2_000
HOUR_S, HURRY_S = 3600.0, 720.0  # every twelve minutes nearer to the deadline, e times as many submit
BOARD_S, RUN_S = 2.5, 0.7  # how often a page asks: as static/live.js does
SETTLE_S = 120.0
ALONE = 150  # requests of a kind, to measure what one costs
ENTRY = """
class Entry:
    def step(self, packet):
        if (packet.data[-1] == 249).any():
            return 201
"""
NAME = "evening"


def arrivals(scale: float, seconds: float, seed: int = 1) -> list[float]:
    """Moments of the submissions of the last ``seconds``: a Poisson process that grows towards the deadline."""
    rng = np.random.default_rng(seed)
    whole = TEAMS * EACH / scale / (1 - math.exp(-HOUR_S / HURRY_S))
    count = rng.poisson(whole * (1 - math.exp(-seconds / HURRY_S)))
    share = rng.uniform(math.exp(-seconds / HURRY_S), 1, count)  # by inversion: exp(-time left / HURRY_S)
    return sorted((seconds + HURRY_S * np.log(share)).tolist())


@dataclass
class Evening:
    """A site with its teams, and what was observed."""

    port: int
    tokens: list[str]
    versions: list[int]
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    waited: list[float] = field(default_factory=list)
    over: bool = False

    async def ask(self, line: Line, kind: str, method: str, path: str, body: Any = None, token: str = "") -> Any:
        """One request on a line; its JSON or None, its time kept under its kind."""
        began = time.perf_counter()
        code, content = await line.ask(method, path, body, token)
        self.took[kind].append(time.perf_counter() - began)
        if code >= 400:
            self.failed[f"{kind} {code}"] += 1
            return None
        return json.loads(content) if kind != "page" else None

    async def watch(self, after_s: float) -> None:
        """Somebody with the board open: asks whether it has changed, and fetches it if so."""
        await asyncio.sleep(after_s)
        line, seen = Line(self.port), None
        while not self.over:
            began = time.perf_counter()
            news = await self.ask(line, "revision", "GET", f"/contests/{NAME}/final/revision")
            if news and news["revision"] != seen:
                seen = news["revision"]
                await self.ask(line, "page", "GET", f"/contests/{NAME}/final")
            await asyncio.sleep(max(BOARD_S - (time.perf_counter() - began), 0))
        await line.close()

    async def submit(self, at_s: float, team: int) -> None:
        """A team submits and follows its run until there is a result."""
        await asyncio.sleep(at_s)
        line, began = Line(self.port), time.perf_counter()
        body = {"version_id": self.versions[team], "contest": NAME}
        run = await self.ask(line, "submit", "POST", "/api/v1/submissions", body, self.tokens[team])
        until = began + SETTLE_S
        while run is not None and time.perf_counter() < until:
            await asyncio.sleep(RUN_S)
            now = await self.ask(line, "state", "GET", f"/api/v1/submissions/{run['id']}", None, self.tokens[team])
            if now and now["ranked"] is not None:
                self.waited.append(time.perf_counter() - began)
                break
        await line.close()


class Line:
    """A persistent connection, opened on first use and again when the server has closed it as idle."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any, token: str) -> tuple[int, bytes]:
        try:
            return await self._ask(method, path, body, token)
        except (asyncio.IncompleteReadError, ConnectionError):
            await self.close()
            return await self._ask(method, path, body, token)

    async def _ask(self, method: str, path: str, body: Any, token: str) -> tuple[int, bytes]:
        if self._ends is None:
            self._ends = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._ends
        sent = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncontent-length: {len(sent)}\r\n"
        head += "content-type: application/json\r\n" if sent else ""
        head += f"authorization: Bearer {token}\r\n" if token else "accept-encoding: gzip\r\n"
        writer.write(head.encode() + b"\r\n" + sent)
        said = (await reader.readuntil(b"\r\n\r\n")).lower()
        size = int(said.split(b"content-length: ")[1].split(b"\r\n")[0])
        return int(said.split(b" ", 2)[1]), await reader.readexactly(size)

    async def close(self) -> None:
        if self._ends is not None:
            self._ends[1].close()
            with suppress(ConnectionError):
                await self._ends[1].wait_closed()
            self._ends = None


def prepare(home: Path, teams: int) -> tuple[list[str], list[int]]:
    """A contest on a short simulated recording, and teams with a package each; their tokens and versions."""
    from bciarena.service import accounts, contests, uploads
    from bciarena.service import teams as groups
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site
    from bciarena.service.spec import parse

    settings = Settings.at(home)
    site = Site(settings)
    package = home / "entry.zip"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("entry.py", ENTRY)
        archive.writestr("config.toml", 'entry = "entry.py:Entry"\n')
    phase = {"name": "final", "daily_limit": 0, "data": {"simulate": {"subjects": 1, "blocks": 1}}}
    spec = {"slug": NAME, "title": "Evening", "rulebook": sample().id, "phase": [phase]}
    tokens, versions = [], []
    with site.session(writes=True) as session:
        owner = accounts.sign_up(session, "olga", os.urandom(12).hex(), "operator")
        contest = contests.create(session, owner, parse(spec, "bench"), None)
        contests.prepare(session, site.storage, site.settings.secret, contest.phases[0])
        about = uploads.inspect(package, sample().name)
        for number in range(teams):
            account = accounts.sign_up(session, f"team{number}", os.urandom(12).hex())
            team = groups.create_team(session, account, f"Team {number}")
            entry = uploads.create_entry(session, account, team, "first", sample().name)
            kept = uploads.add_version(session, site.storage, settings, account, entry, package, "entry.zip", about)
            tokens.append(accounts.make_token(session, account, "bench"))
            versions.append(kept.id)
    site.engine.dispose()
    return tokens, versions


def cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _alone(evening: Evening, server: psutil.Process) -> dict[str, float]:
    """CPU seconds of the server per request of each kind, one after the other on an otherwise idle site."""
    line, token = Line(evening.port), evening.tokens[0]
    paths = {"revision": f"/contests/{NAME}/final/revision", "page": f"/contests/{NAME}/final"}
    run = (await line.ask("POST", "/api/v1/submissions", {"version_id": evening.versions[0], "contest": NAME}, token))[
        1
    ]
    paths["state"] = f"/api/v1/submissions/{json.loads(run)['id']}"
    await asyncio.sleep(10)  # the run ends, and whatever starts has started
    cost = {}
    for kind, path in paths.items():
        began = cpu_s(server)
        for _ in range(ALONE):
            await line.ask("GET", path, None, token if kind == "state" else "")
        cost[kind] = (cpu_s(server) - began) / ALONE
    began = cpu_s(server)
    for _ in range(10):
        await line.ask("POST", "/api/v1/submissions", {"version_id": evening.versions[0], "contest": NAME}, token)
    cost["submit"] = (cpu_s(server) - began) / 10
    await line.close()
    return cost


async def _play(evening: Evening, scale: float, seconds: float) -> None:
    viewers = round(VIEWERS / scale)
    watching = [asyncio.create_task(evening.watch(BOARD_S * n / viewers)) for n in range(viewers)]
    teams = len(evening.tokens)
    await asyncio.gather(*(evening.submit(at, n % teams) for n, at in enumerate(arrivals(scale, seconds))))
    evening.over = True
    await asyncio.gather(*watching)


def measure(scale: float, seconds: float, workers: int = 1) -> dict[str, Any]:
    """One evening at one scale: latencies, waits, what failed, and the server's CPU time beside the model's."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        home = Path(folder) / "site"
        tokens, versions = prepare(home, max(round(TEAMS / scale), 1))
        server = Server(home, f"sqlite:///{home / 'arena.db'}", workers)
        try:
            process = psutil.Process(server.process.pid)
            evening = Evening(server.port, tokens, versions)
            cost = asyncio.run(_alone(evening, process))
            _wait_until_idle(evening)
            load = os.getloadavg()[0]
            before, began = cpu_s(process), time.perf_counter()
            asyncio.run(_play(evening, scale, seconds))
            used, took = cpu_s(process) - before, time.perf_counter() - began
        finally:
            server.close()
    asked = {kind: len(times) for kind, times in evening.took.items()}
    row: dict[str, Any] = {
        "measure": f"deadline evening, 1/{scale:g}, last {seconds:g} s",
        "viewers": round(VIEWERS / scale),
        "submissions": asked.get("submit", 0),
        "results": len(evening.waited),
        "failed": dict(evening.failed),
        "requests_per_s": sum(asked.values()) / took,
        "server_cpu": used / took,
        "server_cpu_model": sum(cost[kind] * count for kind, count in asked.items()) / took,
        "load_average": load,
    }
    for kind, times in evening.took.items():
        p50, p99 = np.percentile(times, [50, 99]) * 1000
        row |= {f"{kind}_p50_ms": float(p50), f"{kind}_p99_ms": float(p99)}
        row |= {f"{kind}_cpu_ms": 1000 * cost[kind], f"{kind}_count": asked[kind]}
    if evening.waited:
        row |= {"result_p50_s": float(np.median(evening.waited)), "result_max_s": max(evening.waited)}
    return row


def _wait_until_idle(evening: Evening) -> None:
    """Wait for the runs started by measuring: they must not be queued before those of the evening."""

    async def idle() -> None:
        line, until = Line(evening.port), time.monotonic() + SETTLE_S
        while time.monotonic() < until:
            content = (await line.ask("GET", "/api/v1/submissions", None, evening.tokens[0]))[1]
            if all(run["ranked"] is not None for run in json.loads(content)):
                break
            await asyncio.sleep(1)
        await line.close()

    asyncio.run(idle())


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description="A deadline evening, scaled down; rows as JSON lines.")
    parser.add_argument("--scale", type=float, nargs="+", default=[40.0, 20.0])
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    for one in given.scale:
        print(json.dumps(measure(max(one, 4.0), min(given.seconds, 300.0))), flush=True)
