"""A worker: leases jobs, has an engine execute them, sends heartbeats, and commits the results.

It may be killed at any point: when its leases run out, another worker sends its jobs back to the queue. When the
database is away it keeps its results, goes on playing, and tries again until the database is back.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

import bciarena
from bciarena import scratch
from bciarena.database import db
from bciarena.errors import BadInput
from bciarena.jobs.bell import bell_of
from bciarena.jobs.engine import Engine
from bciarena.jobs.lease import Lease, Outcome
from bciarena.jobs.model import Job
from bciarena.jobs.queue import LEASE_S, Queue
from bciarena.jobs.storage import Storage, Unwell
from bciarena.plaintext import one_line

BEATS_PER_LEASE = 15
LOOKS_EVERY = 2  # beats, between two signs of life of the worker itself and sweeps of others' leases
LOOK_S = 0.5  # between two checks of an empty queue when no bell rings
DATABASE_WAIT_S = 1.0
UNWELL_WAIT_S = (2.0, 60.0)
CLEAN_EVERY_S = 3600.0
LEAST_FREE_BYTES = 64 << 20
JOB_LIMIT_S = 6 * 3600.0  # a match has its own, much smaller budget; this ends what hangs outside of it

T = TypeVar("T")


@dataclass
class Held:
    """A job this worker holds."""

    lease: Lease
    since: float
    lost: bool = False


class Work:
    """The loop of one worker.

    Parameters
    ----------
    queue, storage, engine
        Where jobs come from, where results are kept, what executes them.
    say : callable
        Takes one line for the operator.
    once : bool
        End when nothing is queued or running any more, anywhere.
    """

    def __init__(
        self,
        queue: Queue,
        storage: Storage,
        engine: Engine,
        *,
        say: Callable[[str], None] = print,
        once: bool = False,
        lease_s: float = LEASE_S,
        on_end: Callable[[Lease, Outcome], None] | None = None,
    ) -> None:
        self.queue, self.storage, self.engine = queue, storage, engine
        self.say, self.once, self.lease_s, self.on_end = say, once, lease_s, on_end
        self.machine = socket.gethostname()
        self.name = f"{self.machine}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self.stopping = threading.Event()
        self.trouble: str | None = None
        self._held: dict[tuple[int, int], Held] = {}
        self._ended: list[tuple[Lease, Outcome]] = []  # not committed yet
        self._away = False
        self._unwell_wait_s = UNWELL_WAIT_S[0]
        self._well_at = 0.0  # take no jobs before this moment
        self._clean_at = 0.0

    def run(self) -> None:
        """Work until told to stop; unfinished jobs then go back to the queue, without counting a fault."""
        beats = threading.Thread(target=self._beat_forever, name="heartbeat", daemon=True)
        beats.start()
        bell = bell_of(self.queue.engine)
        look_at = 0.0
        try:
            while not self.stopping.is_set():
                self._clean()
                rang, took = bell.rang(), False
                if rang or time.monotonic() >= look_at:
                    took = self._fill()
                    if self.once and not self._held and not self._ended and self._nothing_left():
                        break
                    look_at = time.monotonic() + (0.0 if took else LOOK_S)
                self._ended += self.engine.poll(0.0 if took and self.engine.free() else self.engine.nap_s)
                if self._ended:
                    look_at = 0.0  # a slot is free again
                self._commit()
                self._drop()
        finally:
            self.stopping.set()
            bell.close()
            self.engine.close()
            beats.join(timeout=db.CONNECT_S + 5)
            self._ask(self._leave)

    def _leave(self) -> None:
        self._commit()
        for held in list(self._held.values()):
            self.queue.release(held.lease, "its worker was stopped")
        self.queue.gone(self.name)

    # ------------------------------------------------------------------ the main thread

    def _fill(self) -> bool:
        """Lease jobs while slots are free; returns whether any was taken."""
        took = False
        while self.engine.free() > 0 and self._is_well():
            lease = self._ask(lambda: self.queue.lease(self.name, self.machine, self.lease_s))
            if lease is None:
                break
            self._held[lease.name] = Held(lease, time.monotonic())
            self.engine.start(lease)
            took = True
        return took

    def _is_well(self) -> bool:
        """Whether this machine can do a job; checked before each, since a full disk is not the job's fault."""
        if time.monotonic() < self._well_at:
            return False
        try:
            for folder in (scratch.base(), _existing(self.storage.cache)):
                if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
                    raise Unwell(f"{folder}: less than {LEAST_FREE_BYTES >> 20} MiB are free; make room")
            if self.trouble:
                self.storage.probe()
            else:
                self.storage.here()
        except (Unwell, BadInput, OSError) as trouble:
            self._outage(str(trouble))
            return False
        if self.trouble:
            self.say("trying again")
            self.trouble = None
        return True

    def _clean(self) -> None:
        """Now and then, remove what killed processes left half-written in storage and cache."""
        if time.monotonic() < self._clean_at:
            return
        self._clean_at = time.monotonic() + CLEAN_EVERY_S
        try:
            self.storage.clean()
        except OSError as error:
            self.say(f"half-written files cannot be removed: {error}")

    def _outage(self, trouble: str) -> None:
        if trouble != self.trouble:
            self.say(f"takes no jobs for now: {trouble}")
        self.trouble = trouble
        self._well_at = time.monotonic() + self._unwell_wait_s
        self._unwell_wait_s = min(self._unwell_wait_s * 2, UNWELL_WAIT_S[1])

    def _commit(self) -> None:
        """Commit what ended; what cannot be committed now waits, and its lease is kept alive."""
        while self._ended:
            lease, outcome = self._ended[0]
            if self.stopping.is_set() and outcome.verdict in ("", "killed"):
                # Whatever stopped us may have stopped our children too: that says nothing about the job.
                self._ended.pop(0)
                continue
            taken = self._ask(lambda lease=lease, outcome=outcome: self.queue.commit(lease, outcome))  # type: ignore[misc]
            if taken is None:
                return
            self._ended.pop(0)
            self._held.pop(lease.name, None)
            if outcome.unwell:
                self._outage(outcome.error)
                continue
            self._unwell_wait_s = UNWELL_WAIT_S[0]
            if not taken:
                self.say(f"job {lease.job}, attempt {lease.attempt}: came too late, dropped")
                continue
            self.say(_line(lease, outcome))
            if self.on_end and not outcome.later:
                self.on_end(lease, outcome)

    def _drop(self) -> None:
        """Stop what was cancelled or swept, and what takes too long."""
        for name, held in list(self._held.items()):
            if held.lost:
                self.say(f"job {held.lease.job}, attempt {held.lease.attempt}: lease lost or cancelled, stopped")
                self.engine.stop(held.lease)
                del self._held[name]
            elif time.monotonic() - held.since > JOB_LIMIT_S and held.lease not in [one for one, _ in self._ended]:
                self.engine.stop(held.lease)
                self._ended.append((held.lease, Outcome(error=f"took longer than {JOB_LIMIT_S:.0f} s, stopped")))

    def _nothing_left(self) -> bool:
        def count() -> int:
            with db.reading(self.queue.engine) as session:
                query = sa.select(sa.func.count()).select_from(Job).where(Job.state.in_(("queued", "leased")))
                return session.scalar(query.where(sa.or_(Job.only.is_(None), Job.only == self.machine))) or 0

        return self._ask(count) == 0

    # ------------------------------------------------------------------ the heartbeat's thread

    def _beat_forever(self) -> None:
        pause_s = self.lease_s / BEATS_PER_LEASE
        about: dict[str, Any] = {"machine": self.machine, "engine": self.engine.name, "version": bciarena.__version__}
        for count in itertools.count():
            self._ask(lambda look=count % LOOKS_EVERY == 0: self._beat(about if look else None))  # type: ignore[misc]
            if self.stopping.wait(pause_s):
                return

    def _beat(self, about: dict[str, Any] | None) -> None:
        news = self.engine.news()
        for name, held in list(self._held.items()):
            progress, machine = news.get(name, (None, ""))
            if not self.queue.beat(held.lease, progress, machine, self.lease_s) and name in self._held:
                held.lost = True
        if about:
            self.queue.seen(self.name, slots=self.engine.slots, trouble=self.trouble, **about)
            self.queue.sweep()

    # ------------------------------------------------------------------ both

    def _ask(self, question: Callable[[], T]) -> T | None:
        """Query the database; None while it is away, which is reported once."""
        try:
            answer = question()
        except SQLAlchemyError as error:
            if not db.is_unreachable(error):
                raise
            if not self._away:
                self._away = True
                self.say(f"database {db.shown(self.queue.engine)} is away, trying again: {db.why(error)}")
            self.stopping.wait(DATABASE_WAIT_S)
            return None
        if self._away:
            self._away = False
            self.say("database is back")
        return answer


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def _line(lease: Lease, outcome: Outcome) -> str:
    if outcome.later:
        return f"job {lease.job}, attempt {lease.attempt}: put back for a while: {outcome.error}"
    if not outcome.verdict:
        return f"job {lease.job}, attempt {lease.attempt}: our fault: {outcome.error}"
    score = (outcome.result or {}).get("score")
    shown = f", score {score:.4g}" if isinstance(score, (int, float)) else ""
    return f"job {lease.job}: {outcome.verdict}{shown}" + (f" ({one_line(outcome.error)})" if outcome.error else "")
