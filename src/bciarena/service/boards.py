"""Leaderboards: one row per team, in an order that says where it is chance.

A board is made once per revision of its phase and kept; a page costs a look at the phase's row.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from bciarena.contests import rulebook as find_rulebook
from bciarena.report.part import part_of
from bciarena.report.statistics import paired_permutation
from bciarena.service.models import Phase, Result, Submission, Team

T = TypeVar("T")
LEVEL = 0.05
PAGE = 100
HISTORY = 30
VIEWS = 200


@dataclass(frozen=True)
class Row:
    """A team on a board.

    ``first`` and ``last`` are the ranks it shares with those it cannot be told from; twice its own when there are none.
    A run of the house's own that was not boxed is shown below the others, without a rank.
    """

    rank: int | None
    first: int | None
    last: int | None
    p: float | None  # of the comparison with the best of its group
    team_id: int
    team: str
    house: bool
    submission_id: int
    score: float
    low: float | None
    high: float | None
    metrics: dict[str, Any]
    verdict: str
    at: float
    runs: int
    history: tuple[float, ...]


@dataclass(frozen=True)
class Board:
    revision: int
    rulebook: str
    columns: tuple[str, ...]
    unit: str
    rows: tuple[Row, ...]

    @property
    def most(self) -> float:
        """The right end of the intervals' rail."""
        return max((row.high or row.score for row in self.rows), default=1.0) or 1.0

    def sorted_by(self, key: str, down: bool) -> list[Row]:
        """Rows by rank, team, date, runs, score or any metric; unknown keys give the ranking."""
        if key in self.columns:
            return sorted(self.rows, key=lambda row: float(row.metrics.get(key) or 0.0), reverse=down)
        fields = {"team": lambda row: row.team.lower(), "date": lambda row: row.at, "runs": lambda row: row.runs}
        if key in fields:
            return sorted(self.rows, key=fields[key], reverse=down)
        return list(reversed(self.rows)) if down else list(self.rows)


class Boards:
    """Boards by phase, remade when their revision changes; while one is being made others get the one before."""

    def __init__(self) -> None:
        self._kept: dict[int, Board] = {}
        self._locks: dict[int, threading.Lock] = defaultdict(threading.Lock)
        self._chances: dict[tuple[int, int], float] = {}
        self._drawn: dict[int | str, tuple[Any, dict[Any, Any]]] = {}

    def of(self, session: Session, phase: Phase) -> Board:
        kept = self._kept.get(phase.id)
        if kept is not None and kept.revision == phase.revision and kept.rulebook == phase.contest.rulebook:
            return kept
        lock = self._locks[phase.id]
        if not lock.acquire(blocking=kept is None):
            assert kept is not None
            return kept
        try:
            kept = self._kept.get(phase.id)
            if kept is None or kept.revision != phase.revision or kept.rulebook != phase.contest.rulebook:
                kept = self._kept[phase.id] = make_board(session, phase, self._chances)
            return kept
        finally:
            lock.release()

    def drawn(self, place: int | str, revision: Any, view: Any, draw: Callable[[], T]) -> T:
        """A picture of the board, kept until its revision changes."""
        kept = self._drawn.get(place)
        if kept is None or kept[0] != revision or len(kept[1]) > VIEWS:
            kept = self._drawn[place] = (revision, {})
        if view not in kept[1]:
            kept[1][view] = draw()
        found: T = kept[1][view]
        return found


def make_board(session: Session, phase: Phase, chances: dict[tuple[int, int], float] | None = None) -> Board:
    """The board of a phase from the database: each team's best or last ranked run."""
    book = find_rulebook(phase.contest.rulebook)
    order = (
        (Result.ranked.desc(), Result.score.desc(), Submission.created_at, Result.id)
        if phase.counts == "best"
        else (Result.ranked.desc(), Submission.created_at.desc(), Submission.id.desc(), Result.id.desc())
    )
    counted = (
        select(
            Result.id.label("result_id"),
            func.row_number().over(partition_by=Result.team_id, order_by=order).label("place"),
            func.count().over(partition_by=Result.team_id).label("runs"),
        )
        .join(Submission, Submission.id == Result.submission_id)
        .join(Team, Team.id == Result.team_id)
        .where(
            Result.phase_id == phase.id,
            Result.current,
            or_(Result.ranked, and_(Team.house, Result.verdict == "ok")),
            Submission.disqualified.is_(None),
        )
        .subquery()
    )
    query = (
        select(Result, Team.name, Team.house, Submission.created_at, counted.c.runs)
        .join(counted, counted.c.result_id == Result.id)
        .join(Team, Team.id == Result.team_id)
        .join(Submission, Submission.id == Result.submission_id)
        .where(counted.c.place == 1)
        .order_by(Result.ranked.desc(), Result.score.desc(), Submission.created_at, Result.id)
    )
    found = [tuple(row) for row in session.execute(query)]
    groups: list[tuple[int | None, int | None, float | None]] = []
    groups += _groups([row[0] for row in found if row[0].ranked], {} if chances is None else chances)
    groups += [(None, None, None)] * (len(found) - len(groups))
    past = _history(session, phase)
    rows = []
    for rank, ((result, team, house, at, runs), (first, last, p)) in enumerate(zip(found, groups, strict=True), 1):
        rows.append(
            Row(
                rank if result.ranked else None, first, last, p, result.team_id, team, house, result.submission_id,
                result.score, result.low, result.high, result.metrics, result.verdict, at, runs,
                tuple(past.get(result.team_id, ())),
            )
        )  # fmt: skip
    return Board(phase.revision, book.id, part_of(book).columns, book.unit, tuple(rows))


def _groups(results: list[Result], chances: dict[tuple[int, int], float]) -> list[tuple[int, int, float | None]]:
    """Teams that cannot be told from the best of their group share its ranks; who can be begins the next group."""
    groups: list[list[float | None]] = []
    best: Result | None = None
    for result in results:
        p = None if best is None else _chance(best, result, chances)
        if p is None or p <= LEVEL:
            best, p = result, None
            groups.append([])
        groups[-1].append(p)
    spans: list[tuple[int, int, float | None]] = []
    for group in groups:
        first = len(spans) + 1
        spans += [(first, first + len(group) - 1, p) for p in group]
    return spans


def _chance(one: Result, other: Result, chances: dict[tuple[int, int], float]) -> float | None:
    """p of the paired test over blocks; None when the runs were not on the same blocks."""
    key = (one.id, other.id)
    if key not in chances:
        mine = {(b["subject"], b["block"]): b["score"] for b in one.blocks}
        theirs = {(b["subject"], b["block"]): b["score"] for b in other.blocks}
        if not mine or mine.keys() != theirs.keys():
            return 1.0 if one.score == other.score else None
        chances[key] = paired_permutation([mine[k] for k in mine], [theirs[k] for k in mine], draws=2000)
    return chances[key]


def _history(session: Session, phase: Phase) -> dict[int, list[float]]:
    """The scores of every team's last runs, oldest first, for the small curves."""
    place = func.row_number().over(partition_by=Result.team_id, order_by=Submission.created_at.desc()).label("place")
    recent = (
        select(Result.team_id, Result.score, place)
        .join(Submission, Submission.id == Result.submission_id)
        .where(Result.phase_id == phase.id, Result.current, Result.ranked, Submission.disqualified.is_(None))
        .subquery()
    )
    query = select(recent.c.team_id, recent.c.score).where(recent.c.place <= HISTORY)
    past: dict[int, list[float]] = defaultdict(list)
    for team, score in session.execute(query.order_by(recent.c.team_id, recent.c.place.desc())):
        past[team].append(score)
    return past
