"""One storm: jobs, workers that are struck again and again, and what came of it."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy as sa

from bciarena.database.db import is_unreachable, open_database, writing
from bciarena.jobs.lease import Lease
from bciarena.jobs.model import ENDED, Job
from bciarena.jobs.perform import perform
from bciarena.jobs.queue import FAULTS_ALLOWED, Queue
from bciarena.jobs.stores import open_storage
from bciarena.upkeep import verify
from tests.jobs.playing import Workers, all_rows, entry_file, freeze, imagery_data, match_payload, timeless, wait_for

LEASE_S = 3.0
PATIENCE_S = 300.0
COUNTED = ("lost", "doubled", "wrong", "misattributed", "left behind")
DIES = """
import os

class Slow:
    def step(self, packet):
        if packet.number == 90:
            os.kill(os.getpid(), 9)
"""
RAISES = "class Slow:\n    def step(self, packet):\n        return 1 // (packet.number - 50)\n"


class Storm:
    """Honest, crashing and suicidal entries, played while something is struck every second or so.

    Parameters
    ----------
    seed : int
        Decides what is struck and when, as far as the machine's own pace allows.
    restart : callable, optional
        Restarts the database server.
    engine : tuple of str
        Options of the workers; without any they are local, one job each.
    strike_node : callable, optional
        Kills a node of the cluster and gives it another.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        seed: int,
        jobs: int = 8,
        restart: Callable[[], None] | None = None,
        engine: tuple[str, ...] = ("--slots", "1"),
        strike_node: Callable[[], None] | None = None,
    ) -> None:
        self.dice = random.Random(seed)
        self.folder, self.url, self.options = folder, url, engine
        self.restart, self.strike_node = restart, strike_node
        self.queue = Queue(open_database(url))
        self.storage = open_storage(self.queue.engine, folder / "storage", folder / "cache")
        self.workers = Workers(folder, url, self.storage.url)
        self.crew: list[subprocess.Popen[bytes]] = []
        self.struck: Counter[str] = Counter()
        self.entries_killed: set[tuple[int, int]] = set()
        self.expected: dict[int, tuple[str, list[dict[str, Any]]]] = {}
        self.told: list[str] = []  # what happened, for whoever must find out why something was counted
        data = imagery_data(folder / "data", 2, 4)
        for number in range(jobs):
            source = {jobs - 1: DIES, jobs - 2: RAISES}.get(number)
            self._queue(number, source, data)

    def _queue(self, number: int, source: str | None, data: Path) -> None:
        entry = entry_file(self.folder / f"entry{number}", 0.005)
        if source:
            entry.write_text(source)
        payload = match_payload(self.storage, data, entry, seed=number)
        alone = perform(Lease(0, 0, "match", payload), self.storage, lambda _: None)
        assert alone.run, alone
        ledger = timeless(self.storage.read(alone.run, "ledger.jsonl"))
        self.expected[self.queue.put("match", payload, team=f"team{number % 3}")] = (alone.verdict, ledger)

    # ------------------------------------------------------------------ what can be struck

    def strikes(self) -> list[Callable[[], bool]]:
        found = [self.kill_worker, self.kill_box, self.kill_entry, self.set_clock, self.unmount, self.damage_cache]
        if self.strike_node is None:
            found += [self.kill_child, self.stop_tree, self.freeze]
        else:
            found += [self.kill_node, self.kill_box, self.kill_entry]  # boxes are far away there: more tries
        return found + ([self.restart_database] if self.restart else [])

    def _held(self, worker: subprocess.Popen[bytes]) -> list[Job]:
        return [row for row in self._rows() if row.state == "leased" and f"-{worker.pid}-" in (row.worker or "")]

    def _rows(self) -> list[Job]:
        return wait_for(lambda: self._asked(lambda: all_rows(self.queue)), 60, "the database answers")

    def _asked(self, question: Callable[[], Any]) -> Any:
        try:
            return question()
        except sa.exc.SQLAlchemyError as error:
            if not is_unreachable(error):
                raise
            return None

    def _spared(self, worker: subprocess.Popen[bytes]) -> bool:
        """Whether striking this worker would be some job's last fault: three are the operator's, and rightly so."""
        return any(row.faults >= FAULTS_ALLOWED - 1 for row in self._held(worker))

    def _spared_all(self) -> bool:
        """The same for a strike that may hit any job, also one that is leased a moment later."""
        return any(row.faults >= FAULTS_ALLOWED - 1 for row in self._rows() if row.state not in ENDED)

    def _any_worker(self) -> subprocess.Popen[bytes] | None:
        alive = [one for one in self.crew if one.poll() is None and not self._spared(one)]
        return self.dice.choice(alive) if alive else None

    def _replace(self, worker: subprocess.Popen[bytes]) -> None:
        worker.wait(30)
        self.crew[self.crew.index(worker)] = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return self.workers.start(*self.options, lease_s=LEASE_S)

    def kill_worker(self) -> bool:
        worker = self._any_worker()
        if worker is None:
            return False
        worker.kill()
        self._replace(worker)
        return True

    def stop_tree(self) -> bool:
        worker = self._any_worker()
        if worker is None:
            return False
        for process in [*self.workers.descendants(worker), psutil.Process(worker.pid)]:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGTERM)
        self._replace(worker)
        return True

    def freeze(self) -> bool:
        worker = self._any_worker()
        if worker is None:
            return False
        freeze(worker, self.url)
        time.sleep(LEASE_S + 1.0)
        worker.send_signal(signal.SIGCONT)
        return True

    def kill_child(self) -> bool:
        worker = self._any_worker()
        children = self.workers.descendants(worker) if worker and self._held(worker) else []
        for child in children[:1]:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        return bool(children)

    def _boxes(self) -> list[tuple[Job, psutil.Process, psutil.Process]]:
        """What plays now: its job, bubblewrap's own process, the entry's."""
        rows = {row.id: row for row in self._rows() if row.state == "leased"}
        found = []
        for box in psutil.process_iter(["name"]):
            try:
                if box.info["name"] != "bwrap" or box.parent().name() == "bwrap":
                    continue
                inner = [one for one in box.children(recursive=True) if one.name().startswith("python")]
                job = next((row for row in map(self._job_of(rows), box.parents()) if row), None)
                if inner and job:
                    found.append((job, box, inner[0]))
            except (psutil.NoSuchProcess, AttributeError):
                continue
        return found

    def _job_of(self, rows: dict[int, Job]) -> Callable[[psutil.Process], Job | None]:
        ours = {worker.pid: worker for worker in self.crew}

        def job(process: psutil.Process) -> Job | None:
            if process.pid in ours:
                return next(iter(self._held(ours[process.pid])), None)
            named = re.match(r"ray::job (\d+)", " ".join(process.cmdline()))
            return rows.get(int(named[1])) if named else None

        return job

    def kill_box(self) -> bool:
        boxes = [(job, box) for job, box, _ in self._boxes() if job.faults < FAULTS_ALLOWED - 1]
        if not boxes:
            return False
        self.dice.choice(boxes)[1].kill()
        return True

    def kill_entry(self) -> bool:
        """Once in each attempt: twice would be a verdict, by the rules."""
        boxes = [(job, entry) for job, _, entry in self._boxes() if (job.id, job.attempt) not in self.entries_killed]
        if not boxes:
            return False
        job, entry = self.dice.choice(boxes)
        self.entries_killed.add((job.id, job.attempt))
        entry.kill()
        return True

    def set_clock(self) -> bool:
        """As if the database's clock had been set: all that was written lies elsewhere."""
        by_s = self.dice.choice((-3600.0, 3600.0))
        with writing(self.queue.engine) as session:
            for name in ("heartbeat_at", "leased_until", "ready_at"):
                moved = sa.update(Job).values({name: getattr(Job, name) + by_s})
                session.execute(moved.execution_options(synchronize_session=False))
        return True

    def unmount(self) -> bool:
        root = Path(self.storage.root)
        away = root.with_name("unmounted")
        root.rename(away)
        time.sleep(self.dice.uniform(0.5, 2.0))
        assert not root.exists(), "something was made in the place of a store that is away"
        away.rename(root)
        return True

    def damage_cache(self) -> bool:
        files = [path for path in (self.folder / "cache").glob("tree/*/*/S01/*") if path.is_file()]
        if not files or self._spared_all():  # who plays from it now has a fault
            return False
        victim = self.dice.choice(sorted(files))
        content = victim.read_bytes()
        beside = self.folder / "damaged"
        beside.write_bytes(content[:-20] + b"x" + content[-19:])
        os.replace(beside, victim)  # a file of its own: storage stays as it is
        return True

    def restart_database(self) -> bool:
        assert self.restart is not None
        self.restart()
        self.queue.engine.dispose()
        return True

    def kill_node(self) -> bool:
        assert self.strike_node is not None
        if self._spared_all():
            return False
        self.strike_node()
        return True

    # ------------------------------------------------------------------ the storm itself

    def blow(self, most: int, workers: int = 2) -> dict[str, int]:
        """Strike until everything is done or ``most`` strikes were made; counts of all that went wrong."""
        self.crew = [self._start() for _ in range(workers)]
        strikes = self.strikes()
        until = time.monotonic() + PATIENCE_S
        while not self._done() and sum(self.struck.values()) < most and time.monotonic() < until:
            time.sleep(self.dice.uniform(0.3, 1.5))
            strike = self.dice.choice(strikes)
            if self._asked(strike):
                self.struck[strike.__name__] += 1
                held = [(row.id, row.attempt, row.faults) for row in self._rows() if row.state == "leased"]
                self.told.append(f"{strike.__name__}; (job, attempt, faults) held now: {held}")
        with suppress(AssertionError):  # what is not done by then is lost, and counted so
            wait_for(self._done, PATIENCE_S, "all jobs end")
        for worker in self.crew:
            worker.terminate()
        for worker in self.crew:
            worker.wait(30)
        self.workers.start(*self.options, "--once", lease_s=LEASE_S).wait(60)  # the next to come cleans up
        return self._counts()

    def _done(self) -> bool:
        return all(row.state in ENDED for row in self._rows())

    def _counts(self) -> dict[str, int]:
        counts = dict.fromkeys(COUNTED, 0)
        logs = "".join(self.workers.log(number) for number in range(len(self.workers.started)))
        for row in self._rows():
            verdict, ledger = self.expected[row.id]
            commits = re.findall(rf"^worker: job {row.id}: (?!.*dropped)", logs, re.M)
            counts["doubled"] += len(commits) > 1
            if row.state not in ENDED:
                counts["lost"] += 1
            elif row.verdict != verdict:
                counts["misattributed"] += 1
                self.told.append(
                    f"job {row.id}: {row.state}, {row.verdict} not {verdict}, {row.faults} faults: {row.error}"
                )
            elif timeless(self.storage.read(row.run, "ledger.jsonl"))[:-1] != ledger[:-1]:  # the end's notes may differ
                counts["wrong"] += 1
        counts["lost"] += len(verify.check(self.queue.engine, self.storage, digests=True))
        counts["left behind"] = len(self.workers.leftovers())
        counts["left behind"] += len(list(Path(self.storage.root).rglob("*.part")))
        return counts

    def close(self) -> None:
        self.workers.close()
        self.queue.engine.dispose()
