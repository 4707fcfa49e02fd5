"""The queue for display: what runs, what waits and why, on which machine."""

from __future__ import annotations

from collections import Counter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bciarena.database.db import now_s
from bciarena.jobs.model import STATES, Job, Worker
from bciarena.jobs.queue import HELD, LATER_S, RETRY_S

ALIVE_S = 30.0  # a worker seen within this time counts as alive


def snapshot(session: Session, most: int = 50) -> dict[str, Any]:
    """Counts by state, workers, and the first running, waiting and lately ended jobs; plain values."""
    now = session.scalar(sa.select(now_s())) or 0.0
    counted = session.execute(sa.select(Job.state, sa.func.count()).group_by(Job.state))
    counts = {state: number for state, number in counted}  # noqa: C416 - mypy does not take rows for pairs
    workers = session.scalars(sa.select(Worker).order_by(Worker.name)).all()
    alive = [worker for worker in workers if abs(now - worker.seen_at) < ALIVE_S]
    running = session.scalars(sa.select(Job).where(Job.state == "leased").order_by(Job.started_at)).all()
    by_team = Counter(job.team for job in running)
    waiting = session.scalars(
        sa.select(Job).where(Job.state == "queued").order_by(Job.priority.desc(), Job.id).limit(most)
    ).all()
    shards_left = _shards_left(session, [job.id for job in waiting if job.kind == "join"])
    ended = session.scalars(
        sa.select(Job).where(Job.ended_at.is_not(None)).order_by(Job.ended_at.desc()).limit(min(most, 10))
    ).all()
    return {
        "counts": {state: counts.get(state, 0) for state in STATES},
        "workers": [
            {
                "name": worker.name,
                "machine": worker.machine,
                "engine": worker.engine,
                "slots": worker.slots,
                "version": worker.version,
                "alive": worker in alive,
                "seen_s_ago": round(now - worker.seen_at, 1),
                "trouble": worker.trouble,
            }
            for worker in workers
        ],
        "running": [_row(job, now) | {"heard_s_ago": _ago(now, job.heartbeat_at)} for job in running[:most]],
        "waiting": [_row(job, now) | {"why": _why(job, now, by_team, shards_left, alive)} for job in waiting],
        "ended": [_row(job, now) for job in ended],
    }


def _shards_left(session: Session, joins: list[int]) -> dict[int, int]:
    query = (
        sa.select(Job.parent, sa.func.count())
        .where(Job.parent.in_(joins), Job.state.in_(("queued", "leased")))
        .group_by(Job.parent)
    )
    return {parent: left for parent, left in session.execute(query) if parent is not None}


def _row(job: Job, now: float) -> dict[str, Any]:
    return {
        "job": job.id,
        "kind": job.kind,
        "team": job.team,
        "priority": job.priority,
        "state": job.state,
        "attempt": job.attempt,
        "faults": job.faults,
        "what": " ".join(str(job.payload[name]) for name in ("challenge", "name") if job.payload.get(name)),
        "subject": job.payload.get("subject"),
        "machine": job.machine,
        "worker": job.worker,
        "progress": job.progress,
        "verdict": job.verdict,
        "score": (job.result or {}).get("score"),
        "error": job.error,
        "age_s": round(now - job.created_at, 1),
        "running_s": round((job.ended_at or now) - job.started_at, 1) if job.started_at else None,
    }


def _why(job: Job, now: float, by_team: Counter[str], shards_left: dict[int, int], alive: list[Worker]) -> str:
    if shards_left.get(job.id):
        return f"{shards_left[job.id]} of its shards are not done"
    if now < job.ready_at <= now + max(*RETRY_S, LATER_S):
        return f"tried again in {job.ready_at - now:.0f} s, after: {job.error}"
    if job.team_limit is not None and by_team[job.team] >= job.team_limit:
        return f"team {job.team} has {by_team[job.team]} running (limit {job.team_limit})"
    if job.only == HELD:
        return "held for the stage"
    if job.only is not None and job.only not in {worker.machine for worker in alive}:
        return f"only {job.only} may run it, and no worker is alive there"
    if not alive:
        return "no worker is alive; start one with: arena worker"
    if all(worker.trouble for worker in alive):
        return f"all workers are in trouble: {alive[0].trouble}"
    return "all workers are busy" + (f"; given back: {job.error}" if job.error else "")


def _ago(now: float, then: float | None) -> float | None:
    return None if then is None else round(now - then, 1)
