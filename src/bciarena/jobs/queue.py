"""The queue: lease, heartbeat, commit once, sweep. All state is in the database; every step is one transaction.

A lease is a compare-and-set on the state, everything after it a compare-and-set on (job, attempt): a worker that lost
its lease, for whatever reason, can no longer change anything.
"""

from __future__ import annotations

import functools
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from bciarena.database.db import LEASE_LOCK, now_s, reading, writing
from bciarena.errors import BadInput
from bciarena.jobs.bell import ring
from bciarena.jobs.lease import Lease, Outcome
from bciarena.jobs.model import ENDED, Job, Worker
from bciarena.jobs.watch import Watch

__all__ = ["FAULTS_ALLOWED", "HELD", "LEASE_S", "Lease", "Outcome", "Queue", "enqueue", "to_do", "waits_apart"]

FAULTS_ALLOWED = 3
LEASE_S = 15.0  # a worker not heard of for this long is dead
RETRY_S = (1.0, 5.0)  # how long after its first and second fault a job waits
LATER_S = 20.0  # how long a job waits after finding its machine disturbed
HELD = "(held)"  # no machine has this name: a job for it waits until somebody says where it runs
FORGET_S = 86400.0  # a worker not seen for this long leaves the list


def enqueue(
    session: Session,
    kind: str,
    payload: dict[str, Any],
    *,
    key: str | None = None,
    team: str = "",
    team_limit: int | None = None,
    priority: int = 0,
    cpus: float = 1.0,
    memory_mb: int = 0,
    parent: int | None = None,
    apart: str | None = None,
    only: str | None = None,
) -> Job:
    """Add a job inside the caller's (writing) transaction; the same ``key`` again gives the existing job."""
    if key is not None:
        there = session.scalar(sa.select(Job).where(Job.key == key))
        if there is not None:
            return there
    job = Job(
        kind=kind,
        payload=payload,
        key=key,
        team=team,
        team_limit=team_limit,
        priority=priority,
        cpus=cpus,
        memory_mb=memory_mb,
        parent=parent,
        apart=apart,
        only=only,
    )
    session.add(job)
    session.flush()
    ring(session)
    return job


def _in_the_way(mine: Any, other: Any) -> sa.Exists:
    """Whether a job must wait for another one to end, because the two must not run at the same time."""
    # Shards of one match may run side by side: each plays other data.
    return sa.exists().where(
        other.state == "leased",
        other.apart == mine.apart,
        sa.func.coalesce(other.parent, other.id) != sa.func.coalesce(mine.parent, mine.id),
    )


def _may_begin_here(mine: Any) -> sa.ColumnElement[bool]:
    """A job for one machine begins there when nothing else runs; meanwhile nothing else begins there."""
    lone, busy, here = aliased(Job), aliased(Job), sa.bindparam("here", type_=sa.Text())
    reserved = sa.exists().where(lone.only == here, lone.state.in_(("queued", "leased")))
    others = sa.exists().where(busy.state == "leased", busy.machine == here)
    return sa.case((mine.only.is_(None), ~reserved), else_=sa.and_(mine.only == here, ~others))


def waits_apart(session: Session, job: Job) -> bool:
    """Whether a queued job waits because a running one could tell it, or learn from it, what comes next."""
    mine = aliased(Job)
    query = sa.select(mine.id).where(mine.id == job.id, mine.state == "queued", _in_the_way(mine, aliased(Job)))
    return session.scalar(query) is not None


@functools.cache  # building it takes longer than running it
def to_do() -> sa.Select[tuple[int]]:
    """Ids of what may start now, best first: one per team and priority.

    Higher priority first; then the team with fewest running jobs, then the one whose turn is longest ago, then the
    older job. A team at its limit, a job before its time, a join whose shards are not done, a match that must stay
    apart from a running one, and what this machine (the parameter ``here``) may not begin are not in the list.
    """
    mine, child, turn, other = aliased(Job), aliased(Job), aliased(Job), aliased(Job)
    running = sa.select(Job.team, sa.func.count().label("n")).where(Job.state == "leased").group_by(Job.team).subquery()
    in_use = sa.func.coalesce(running.c.n, 0)
    shards_left = sa.exists().where(child.parent == mine.id, child.state.in_(("queued", "leased")))
    in_the_way = _in_the_way(mine, other)
    heads = (
        sa.select(mine.team, mine.priority, sa.func.min(mine.id).label("id"), sa.func.min(in_use).label("in_use"))
        .outerjoin(running, running.c.team == mine.team)
        .where(
            mine.state == "queued",
            # Further ahead than any job waits: the clock was set back since.
            sa.or_(mine.ready_at <= now_s(), mine.ready_at > now_s() + max(*RETRY_S, LATER_S)),
            sa.or_(mine.team_limit.is_(None), mine.team_limit > in_use),
            sa.or_(mine.kind != "join", ~shards_left),
            sa.or_(mine.apart.is_(None), ~in_the_way),
            _may_begin_here(mine),
        )
        .group_by(mine.team, mine.priority)
        .subquery()
    )
    last_turn = sa.select(sa.func.max(turn.started_at)).where(turn.team == heads.c.team).scalar_subquery()
    return sa.select(heads.c.id).order_by(
        heads.c.priority.desc(), heads.c.in_use, last_turn.asc().nulls_first(), heads.c.id
    )


class Queue:
    """The queue of one database.

    Every method is one short transaction. They return whether anything was changed: False means that the lease (or
    the moment) had passed and nothing was done.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._watch = Watch()

    def put(self, kind: str, payload: dict[str, Any], **options: Any) -> int:
        """Queue a job in a transaction of its own (options as in `enqueue`); returns its id."""
        with writing(self.engine) as session:
            return enqueue(session, kind, payload, **options).id

    def get(self, job: int) -> Job:
        """A job as it is now, detached."""
        with Session(self.engine) as session:
            row = session.get(Job, job)
            if row is None:
                raise BadInput(f"job {job}: there is no such job")
            session.expunge(row)
            return row

    def lease(self, worker: str, machine: str = "", lease_s: float = LEASE_S) -> Lease | None:
        """Take the next job, or None when there is nothing to do now."""
        with writing(self.engine) as session:
            if self.engine.dialect.name == "postgresql":
                # All are woken at once and most find nothing: no lock for them.
                if session.scalar(to_do().limit(1), {"here": machine}) is None:
                    return None
                # Two leases at once could exceed a team's limit; SQLite's write lock prevents this anyway.
                session.execute(sa.text(f"select pg_advisory_xact_lock({LEASE_LOCK})"))
            job = session.scalar(to_do().limit(1), {"here": machine})
            if job is None:
                return None
            row = session.execute(
                sa.update(Job)
                .where(Job.id == job, Job.state == "queued")
                .values(
                    state="leased",
                    attempt=Job.attempt + 1,
                    worker=worker,
                    machine=machine or None,
                    started_at=now_s(),
                    heartbeat_at=now_s(),
                    leased_until=now_s() + lease_s,
                    progress=None,
                )
                .returning(Job.id, Job.attempt, Job.kind, Job.payload, Job.cpus, Job.memory_mb)
            ).one_or_none()
            if row is None:
                return None
            lease = Lease(*row)
            if lease.kind == "join":
                lease.payload["shards"] = _shards(session, lease.job)
            return lease

    def _held(self, lease: Lease, **values: Any) -> bool:
        """Compare-and-set: changes the row only while this attempt holds the lease."""
        with writing(self.engine) as session:
            done = session.execute(
                sa.update(Job)
                .where(Job.id == lease.job, Job.attempt == lease.attempt, Job.state == "leased")
                .values(**values)
            )
            if "state" in values:
                ring(session)  # a slot is free, a join may begin
            return bool(done.rowcount)  # type: ignore[attr-defined]

    def beat(
        self, lease: Lease, progress: dict[str, Any] | None = None, machine: str = "", lease_s: float = LEASE_S
    ) -> bool:
        """Say that the job is alive; False: the lease is lost (swept or cancelled), stop the work."""
        values: dict[str, Any] = {"heartbeat_at": now_s(), "leased_until": now_s() + lease_s}
        if progress is not None:
            values["progress"] = progress
        if machine:
            values["machine"] = machine
        return self._held(lease, **values)

    def commit(self, lease: Lease, outcome: Outcome) -> bool:
        """Take the outcome of an attempt, once: a verdict ends the job, a fault sends it back or ends it.

        A late or second outcome changes nothing and returns False.
        """
        if outcome.verdict:
            return self._held(
                lease,
                state="finished" if outcome.verdict == "ok" else "failed",
                verdict=outcome.verdict,
                result=outcome.result,
                run=outcome.run,
                error=outcome.error or None,
                leased_until=None,
                ended_at=now_s(),
            )
        if outcome.unwell:
            return self.release(lease, outcome.error)
        if outcome.later:
            return self.release(lease, outcome.error, ready_at=now_s() + LATER_S)
        return self._held(lease, **_after_fault(outcome.error, outcome.final))

    def release(self, lease: Lease, why: str = "", **more: Any) -> bool:
        """Return a job unchanged: the worker stops, or its machine has a problem. Does not count as a fault."""
        return self._held(lease, state="queued", leased_until=None, error=why or None, progress=None, **more)

    def sweep(self) -> int:
        """Requeue what dead workers held (or end it, at its third fault); to be called every second or so.

        Any process may do this: a lease is dead when this process has seen no heartbeat for as long as it lasts.
        """
        held = sa.select(Job.id, Job.attempt, Job.heartbeat_at, Job.leased_until).where(Job.state == "leased")
        with reading(self.engine) as session:
            rows = session.execute(held).all()
            old = sa.select(Worker.name).where(Worker.seen_at < now_s() - FORGET_S)
            forgotten = list(session.scalars(old))
        dead = self._watch.dead(
            (job, attempt, beat or 0.0, (until or 0.0) - (beat or 0.0)) for job, attempt, beat, until in rows
        )
        if not dead and not forgotten:
            return 0
        error = sa.literal("worker ").concat(Job.worker).concat(" was not heard of for longer than its lease")
        swept = 0
        with writing(self.engine) as session:
            for job, attempt, beat in dead:
                done = session.execute(
                    sa.update(Job)
                    .where(Job.id == job, Job.attempt == attempt, Job.state == "leased", Job.heartbeat_at == beat)
                    .values(**_after_fault(error, False))
                    .execution_options(synchronize_session=False)
                )
                swept += int(done.rowcount)  # type: ignore[attr-defined]
            session.execute(sa.delete(Worker).where(Worker.name.in_(forgotten)))
            ring(session)
        return swept

    def cancel(self, job: int) -> bool:
        """Stop a job that has not ended, and its shards; its worker learns this at the next heartbeat."""
        with writing(self.engine) as session:
            done = session.execute(
                sa.update(Job)
                .where(sa.or_(Job.id == job, Job.parent == job), Job.state.not_in(ENDED))
                .values(state="cancelled", leased_until=None, ended_at=now_s())
            )
            ring(session)
            return bool(done.rowcount)  # type: ignore[attr-defined]

    def retry(self, job: int) -> bool:
        """Queue a faulted or cancelled job again (and such shards of it), with its faults forgotten."""
        with writing(self.engine) as session:
            done = session.execute(
                sa.update(Job)
                .where(sa.or_(Job.id == job, Job.parent == job), Job.state.in_(("faulted", "cancelled")))
                .values(state="queued", faults=0, ready_at=now_s(), error=None, ended_at=None, progress=None)
            )
            ring(session)
            return bool(done.rowcount)  # type: ignore[attr-defined]

    def seen(self, worker: str, **about: Any) -> None:
        """Note that a worker is alive (machine, engine, slots, version, trouble), for display."""
        with writing(self.engine) as session:
            row = session.get(Worker, worker)
            if row is None:
                session.add(Worker(name=worker, **about))
            else:
                row.seen_at = now_s()
                for name, value in about.items():
                    setattr(row, name, value)

    def gone(self, worker: str) -> None:
        """Note that a worker has stopped properly."""
        with writing(self.engine) as session:
            session.execute(sa.delete(Worker).where(Worker.name == worker))


def _shards(session: Session, job: int) -> list[dict[str, Any]]:
    """What a join needs to know of its shards, in playing order."""
    rows = session.scalars(sa.select(Job).where(Job.parent == job).order_by(Job.id))
    return [
        {
            "job": row.id,
            "subject": row.payload.get("subject"),
            "state": row.state,
            "verdict": row.verdict,
            "run": row.run,
            "error": row.error,
        }
        for row in rows
    ]


def _after_fault(error: Any, final: bool) -> dict[str, Any]:
    """What a fault does to a row; written so that one statement does it to any number of rows."""
    last = sa.true() if final else Job.faults + 1 >= FAULTS_ALLOWED
    wait_s = sa.case((Job.faults == 0, RETRY_S[0]), else_=RETRY_S[1])
    return {
        "state": sa.case((last, "faulted"), else_="queued"),
        "faults": Job.faults + 1,
        "ready_at": now_s() + wait_s,
        "error": error,
        "leased_until": None,
        "progress": None,
        "ended_at": sa.case((last, now_s()), else_=None),
    }
