"""What the keeper could not do yet: retried with growing pauses until it succeeds, and shown to the operator."""

from __future__ import annotations

from sqlalchemy import ColumnElement, delete, exists, select
from sqlalchemy.orm import InstrumentedAttribute, Mapped, Session, mapped_column

from bciarena.database.db import Base, now_s
from bciarena.jobs.storage import Damaged, Missing, Unwell

PAUSES_S = (5.0, 600.0)  # after the first try, and at most
AWAY_PAUSE_S = 30.0  # at most, where storage is unreachable: it comes back for all at once
KINDS = {Missing: "missing", Damaged: "damaged", Unwell: "away"}


class Trouble(Base):
    """One thing that could not be done.

    Attributes
    ----------
    task : str
        ``settle`` (a run's result), ``rescore``, ``ends`` (its intervals), ``prepare`` (a phase's recordings),
        ``admit``, ``carry``, ``mail``.
    item : int
        Submission or phase.
    kind : str
        ``missing``, ``damaged``, ``away`` or ``other``: what the operator is advised to do.
    """

    __tablename__ = "troubles"
    task: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    error: Mapped[str]
    tries: Mapped[int] = mapped_column(default=1)
    since_at: Mapped[float] = mapped_column(default=now_s())
    next_at: Mapped[float]


def not_waiting(task: str, item: ColumnElement[int] | InstrumentedAttribute[int]) -> ColumnElement[bool]:
    """Condition of a query for things to do: no later retry is scheduled for this one."""
    later = (Trouble.next_at > now_s()) & (Trouble.next_at <= now_s() + PAUSES_S[1])  # beyond: the clock was set back
    return ~exists().where(Trouble.task == task, Trouble.item == item, later)


def note(session: Session, task: str, item: int, error: BaseException) -> None:
    """Remember that something failed, and when to try it again."""
    kind = next((name for one, name in KINDS.items() if isinstance(error, one)), "other")
    words = str(error) or type(error).__name__
    if kind == "other":
        words = f"{type(error).__name__}: {words}"
    trouble = session.get(Trouble, (task, item), with_for_update=True, populate_existing=True)
    tries = trouble.tries + 1 if trouble else 1
    pause_s = min(PAUSES_S[0] * 2.0 ** min(tries - 1, 30), AWAY_PAUSE_S if kind == "away" else PAUSES_S[1])
    if trouble is None:
        trouble = Trouble(task=task, item=item)
        session.add(trouble)
    trouble.kind, trouble.error, trouble.tries = kind, words, tries
    trouble.next_at = now_s() + pause_s
    session.commit()


def forget(session: Session, task: str, item: int) -> None:
    """It is done."""
    session.execute(delete(Trouble).where(Trouble.task == task, Trouble.item == item))
    session.commit()


def all_troubles(session: Session) -> list[Trouble]:
    """All of them, the oldest first."""
    return list(session.scalars(select(Trouble).order_by(Trouble.since_at)))
