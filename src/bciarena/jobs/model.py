"""The rows: a job, a worker that has been seen, and facts about the database as a whole."""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from bciarena.database.db import Base, now_s

State = Literal["queued", "leased", "finished", "failed", "faulted", "cancelled"]
STATES: tuple[State, ...] = ("queued", "leased", "finished", "failed", "faulted", "cancelled")
ENDED: tuple[State, ...] = ("finished", "failed", "faulted", "cancelled")


class Job(Base):
    """A job, and all that is known about it.

    Attributes
    ----------
    key : str or None
        Identifies the job: queueing the same key again gives the same row.
    kind : str
        ``match``, ``join`` (puts the shards of a match together) or ``noop``.
    team : str
        Whose it is, for fair share and limits; empty: nobody's.
    team_limit : int or None
        How many jobs of the team may run when this one starts.
    apart : str or None
        Two matches with the same value here never run at the same time: one could tell the other what comes next.
    only : str or None
        The one machine it may run on, alone: while it waits or runs there, that machine begins nothing else. A name
        that no machine has (`HELD`) keeps it waiting.
    parent : int or None
        The job that waits for this one.
    state : str
        queued -> leased -> finished (verdict ok) | failed (another verdict) | faulted (our fault) | cancelled.
    attempt : int
        Grows with every lease: a result is taken only from the attempt that holds the lease.
    faults : int
        Attempts that ended in a fault of ours, a lost worker included; the third is the last.
    ready_at : float
        Not before this time.
    worker, machine : str or None
        Who holds or held the lease, and where it runs or ran.
    progress : dict or None
        Where the run is: subject, block, trial, packets, total_packets, reports, packets_per_s.
    result : dict or None
        The content of score.json without its trials.
    run : str or None
        Storage name of the run folder.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        sa.Index("ix_jobs_waiting", "state", "team", "priority", "id"),
        sa.Index("ix_jobs_turns", "team", "started_at"),
        sa.Index("ix_jobs_only", "only"),
        sa.CheckConstraint(f"state in {STATES}", name="state"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str | None] = mapped_column(unique=True)
    kind: Mapped[str]
    team: Mapped[str] = mapped_column(default="")
    team_limit: Mapped[int | None]
    priority: Mapped[int] = mapped_column(default=0)
    cpus: Mapped[float] = mapped_column(default=1.0)
    memory_mb: Mapped[int] = mapped_column(default=0)
    payload: Mapped[dict[str, Any]] = mapped_column(default=dict)
    parent: Mapped[int | None] = mapped_column(sa.ForeignKey("jobs.id"), index=True)
    apart: Mapped[str | None]
    only: Mapped[str | None]

    state: Mapped[str] = mapped_column(default="queued")
    attempt: Mapped[int] = mapped_column(default=0)
    faults: Mapped[int] = mapped_column(default=0)
    ready_at: Mapped[float] = mapped_column(default=now_s())
    worker: Mapped[str | None]
    machine: Mapped[str | None]
    leased_until: Mapped[float | None]
    heartbeat_at: Mapped[float | None]
    progress: Mapped[dict[str, Any] | None]

    verdict: Mapped[str | None]
    result: Mapped[dict[str, Any] | None]
    run: Mapped[str | None]
    error: Mapped[str | None]
    created_at: Mapped[float] = mapped_column(default=now_s())
    started_at: Mapped[float | None]
    ended_at: Mapped[float | None]


class Worker(Base):
    """A worker process that is, or was, alive: for display, never for deciding what runs."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    machine: Mapped[str]
    engine: Mapped[str]
    slots: Mapped[int]
    version: Mapped[str]
    trouble: Mapped[str | None]
    started_at: Mapped[float] = mapped_column(default=now_s())
    seen_at: Mapped[float] = mapped_column(default=now_s())


class Fact(Base):
    """Something that is true of this database as a whole: ``store`` is the identity of the storage it belongs to."""

    __tablename__ = "facts"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
