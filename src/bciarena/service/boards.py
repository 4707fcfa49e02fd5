"""Leaderboards: one row per team, with the ranks that may be due to chance.

A board is made once per revision of its phase and kept; a page then costs one query for the phase's row.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sqlalchemy import and_, case, func, or_, select, true
from sqlalchemy.orm import Session
from sqlalchemy.sql.elements import ColumnElement

from bciarena.contests import Rulebook
from bciarena.contests import registered as find_rulebook
from bciarena.jobs.model import Job
from bciarena.report.choosing import Z95, block_error, chosen_low, luck_of
from bciarena.report.part import part_of
from bciarena.report.ranking import Place, places
from bciarena.report.statistics import SMALLEST
from bciarena.service.models import Phase, Result, Submission, Team
from bciarena.service.parts import WHOLE, AnyResult, View, cut, step_of, terms_of, to_step, view_of

T = TypeVar("T")
PAGE = 100
HISTORY = 30
VIEWS = 200


@dataclass(frozen=True)
class Row:
    """A team on a board.

    ``first`` and ``last`` are the ranks it shares with teams it cannot be told from; both its own when there are none.
    ``tested`` is false where the data could not have told it from others: too few blocks, or other blocks.
    ``low`` and ``high`` are for new blocks of the same people, ``new_low`` and ``new_high`` for new people; where the
    best of several runs counts, their lower ends allow for the choice. ``lucky`` is what choosing the best of that many
    equal runs would add on average if their luck were independent.
    A run of a reference entry that was not boxed, and one that came late, are shown below the others, without a rank.
    """

    rank: int | None
    first: int | None
    last: int | None
    p: float | None  # of the comparison with the best of its group
    tested: bool
    team_id: int
    team: str
    house: bool
    submission_id: int
    score: float
    low: float | None
    high: float | None
    new_low: float | None
    new_high: float | None
    lucky: float | None
    metrics: dict[str, Any]
    verdict: str
    at: float
    runs: int
    history: tuple[float, ...]
    late: bool = False
    learnt: str = ""  # what its entry learnt from on the server: labelled, unlabelled, after_trial, nothing


@dataclass(frozen=True)
class Board:
    """``view``: what of the phase it tells."""

    revision: int
    rulebook: str
    columns: tuple[str, ...]
    unit: str
    rows: tuple[Row, ...]
    counts: str
    few: bool  # whether someone has fewer than three blocks
    single: bool  # whether there are more, but only one of some person
    view: View = WHOLE

    @property
    def told(self) -> int:
        """The revision as it may be told: that of a frozen board says nothing about what has changed since."""
        return self.revision if self.view.until is None else int(self.view.until)

    @property
    def untested(self) -> bool:
        """Whether some ranks could not be tested."""
        return any(row.rank and not row.tested for row in self.rows)

    @property
    def new_people(self) -> bool:
        """Whether there were enough people for an interval for new ones."""
        return any(row.new_low is not None for row in self.rows)

    @property
    def most(self) -> float:
        """The right end of the axis on which intervals are drawn."""
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
    """Boards by phase, remade when their revision changes; meanwhile other requests get the previous one."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, View], Board] = {}
        self._locks: dict[tuple[int, View], threading.Lock] = defaultdict(threading.Lock)
        self._drawn: dict[Any, tuple[Any, dict[Any, Any]]] = {}

    def of(self, session: Session, phase: Phase, full: bool = False) -> Board:
        """The board of a phase as everybody sees it; ``full``: as its organisers do."""
        view = view_of(phase, full)
        key = (phase.id, view)
        kept = self._kept.get(key)
        if kept is not None and kept.revision == phase.revision and kept.rulebook == phase.contest.rulebook:
            return kept
        lock = self._locks[key]
        if not lock.acquire(blocking=kept is None):
            assert kept is not None
            return kept
        try:
            kept = self._kept.get(key)
            if kept is None or kept.revision != phase.revision or kept.rulebook != phase.contest.rulebook:
                kept = self._kept[key] = make_board(session, phase, view)
            return kept
        finally:
            lock.release()

    def drawn(self, place: Any, revision: Any, view: Any, draw: Callable[[], T]) -> T:
        """A picture of the board, kept until its revision changes."""
        kept = self._drawn.get(place)
        if kept is None or kept[0] != revision or len(kept[1]) > VIEWS:
            kept = self._drawn[place] = (revision, {})
        if view not in kept[1]:
            kept[1][view] = draw()
        found: T = kept[1][view]
        return found


def make_board(session: Session, phase: Phase, view: View = WHOLE) -> Board:
    """The board of a phase from the database: of each team the run that counts."""
    book = find_rulebook(phase.contest.rulebook)
    counted = _counted if view.part == "all" else _counted_parts
    found, past = counted(session, phase, view)
    learnt = _learnt(session, phase, [one.result.job_id for one in found])
    ranked = [row.result for row in found if row.ranked]
    standing: list[Place | None] = [*_places(book, ranked), *[None] * (len(found) - len(ranked))]
    rows = []
    for rank, (one, place) in enumerate(zip(found, standing, strict=True), 1):
        result, runs = one.result, one.runs
        tries = runs if phase.counts == "best" and view.part != "private" else 1  # chosen by the public part
        low, high = result.low, result.high
        rows.append(
            Row(
                rank if place else None, place and place.first, place and place.last, place and place.p,
                place is not None and place.tested, result.team_id, one.team, one.house, result.submission_id,
                result.score, chosen_low(result.score, low, tries), high,
                chosen_low(result.score, result.new_low, tries), result.new_high,
                luck_of(_error(book, result) if tries > 1 else None, tries),
                result.metrics, result.verdict, one.at, runs, tuple(past.get(result.team_id, ())), one.late,
                learnt.get(result.job_id, ""),
            )
        )  # fmt: skip
    if view.rounded:
        rows = [_coarse(row, one.result) for row, one in zip(rows, found, strict=True)]
    few = any(len(one.result.blocks or ()) < SMALLEST for one in found)
    single = any(_has_single(one.result) for one in found)
    columns = part_of(book).columns
    return Board(phase.revision, book.id, columns, book.unit, tuple(rows), phase.counts, few, single, view)


def _has_single(result: AnyResult) -> bool:
    """Whether intervals had to take blocks of different people as one group (see report.statistics)."""
    counts = Counter(block["subject"] for block in result.blocks or ())
    return counts.total() >= SMALLEST and min(counts.values()) == 1


def _coarse(row: Row, result: AnyResult) -> Row:
    """A row as it is told while a phase on hidden truth lasts; the order of rows stays that of the exact scores."""
    step = step_of(result)
    told: dict[str, Any] = {
        name: None if (value := getattr(row, name)) is None else to_step(value, step)
        for name in ("low", "high", "new_low", "new_high", "lucky")
    }
    past = tuple(to_step(score, step) for score in row.history)
    return replace(row, score=to_step(row.score, step), metrics={}, p=None, history=past, **told)


def _learnt(session: Session, phase: Phase, jobs: list[int]) -> dict[int, str]:
    """What each run's entry learnt from before or while it played, by job; empty where the phase offers nothing."""
    if terms_of(phase).calibration.mode == "none":
        return {}
    found = {}
    for number, told in session.execute(select(Job.id, Job.result).where(Job.id.in_(jobs))):
        said = (told or {}).get("calibration") or {}
        used = said.get("fitted") or said.get("mode") == "after_trial"
        found[number] = str(said["mode"]) if used else "nothing"
    return found


class Counted(NamedTuple):
    """The run of a team that counts."""

    result: AnyResult
    team: str
    house: bool
    at: float
    late: bool
    runs: int

    @property
    def ranked(self) -> bool:
        return self.result.ranked and not self.late


def _listed(phase: Phase, view: View) -> ColumnElement[bool]:
    """What belongs on a board at all."""
    return and_(
        Result.phase_id == phase.id,
        Result.current,
        or_(Result.ranked, and_(Team.house, Result.verdict == "ok")),
        Submission.disqualified.is_(None),
        true() if view.until is None else Submission.created_at < view.until,
    )


def _counted(session: Session, phase: Phase, view: View) -> tuple[list[Counted], dict[int, list[float]]]:
    """The runs that count, best first, and every team's last scores, by the whole of the recordings."""
    in_time = case((and_(Result.ranked, ~Submission.late), 1), else_=0)
    newest = (Submission.created_at.desc(), Submission.id.desc(), Result.id.desc())
    order: tuple[Any, ...] = {
        "best": (in_time.desc(), Result.score.desc(), Submission.created_at, Result.id),
        "chosen": (in_time.desc(), Submission.chosen.desc(), *newest),
    }.get(phase.counts, (in_time.desc(), *newest))
    counted = (
        select(
            Result.id.label("result_id"),
            func.row_number().over(partition_by=Result.team_id, order_by=order).label("place"),
            func.count().over(partition_by=Result.team_id).label("runs"),
        )
        .join(Submission, Submission.id == Result.submission_id)
        .join(Team, Team.id == Result.team_id)
        .where(_listed(phase, view))
        .subquery()
    )
    query = (
        select(Result, Team.name, Team.house, Submission.created_at, Submission.late, counted.c.runs)
        .join(counted, counted.c.result_id == Result.id)
        .join(Team, Team.id == Result.team_id)
        .join(Submission, Submission.id == Result.submission_id)
        .where(counted.c.place == 1)
        .order_by(in_time.desc(), Result.score.desc(), Submission.created_at, Result.id)
    )
    return [Counted(*row) for row in session.execute(query)], _history(session, phase, view)


def _counted_parts(session: Session, phase: Phase, view: View) -> tuple[list[Counted], dict[int, list[float]]]:
    """The same by a part of the recordings. Which run counts is decided by the public part, also in the end: nobody
    shall profit from the luckiest of many runs on recordings that are to tell what they are worth.
    """
    query = (
        select(Result, Team.name, Team.house, Submission)
        .join(Submission, Submission.id == Result.submission_id)
        .join(Team, Team.id == Result.team_id)
        .where(_listed(phase, view))
        .order_by(Submission.created_at, Submission.id)
    )
    teams: dict[int, list[tuple[Result, str, bool, Submission]]] = defaultdict(list)
    for result, team, house, submission in session.execute(query):
        teams[result.team_id].append((result, team, house, submission))
    found, past = [], {}
    for team_id, runs in teams.items():
        keys = []
        for at, (result, _, _, one) in enumerate(runs):
            keys.append((
                result.ranked and not one.late,
                one.chosen if phase.counts == "chosen" else False,
                cut(result, phase, "public").score if phase.counts == "best" else 0.0,
                -at if phase.counts == "best" else at,  # of equals the first, otherwise the newest
            ))  # fmt: skip
        result, team, house, one = runs[keys.index(max(keys))]
        found.append(Counted(cut(result, phase, view.part), team, house, one.created_at, one.late, len(runs)))
        past[team_id] = [cut(other, phase, view.part).score for other, _, _, _ in runs if other.ranked][-HISTORY:]
    found.sort(key=lambda row: (not row.ranked, -row.result.score, row.at, row.result.submission_id))
    return found, past


def _places(book: Rulebook, results: list[AnyResult]) -> list[Place]:
    """The place of each team; those that did not play the best team's blocks, or have no sums, are not tested."""
    if not results:
        return []
    best = _blocks(results[0])
    same = [best is not None and _blocks(result) == best for result in results]
    if not any(same):
        return [Place(rank, rank, None, len(results) == 1) for rank in range(1, len(results) + 1)]
    chosen = [result for result, fits in zip(results, same, strict=True) if fits]
    names = chosen[0].blocks[0]["sums"]
    sums = {name: np.array([[block["sums"][name] for block in one.blocks] for one in chosen]) for name in names}
    ends = np.array([[np.nan, np.nan] if one.low is None else [one.low, one.high] for one in chosen])
    tested = iter(places(book, sums, np.array([subject for subject, *_ in best or ()]), ends))
    ranks = [rank for rank, fits in enumerate(same, 1) if fits]
    standing = []
    for rank, fits in enumerate(same, 1):
        place = next(tested) if fits else Place(0, 0, None, False)
        first, last = (ranks[place.first - 1], ranks[place.last - 1]) if fits else (rank, rank)
        standing.append(place._replace(first=first, last=last))
    return standing


def _blocks(result: AnyResult) -> list[tuple[int, int, str]] | None:
    """Which blocks a result is about (of a live run: its own); None when its sums were not kept."""
    if not result.blocks or any("sums" not in block for block in result.blocks):
        return None
    return [(block["subject"], block["block"], block.get("of", "")) for block in result.blocks]


def _sums(result: AnyResult) -> dict[str, Any]:
    """The sums of a result's blocks, each (1, blocks)."""
    return {name: np.array([[block["sums"][name] for block in result.blocks]]) for name in result.blocks[0]["sums"]}


def _error(book: Rulebook, result: AnyResult) -> float | None:
    """The standard error of a score; from its interval where there are too few blocks, or no sums were kept."""
    if result.low is None or result.high is None:
        return None
    blocks = _blocks(result)
    found = block_error(book, _sums(result), np.array([subject for subject, *_ in blocks])) if blocks else None
    return (result.high - result.low) / (2 * Z95) if found is None else found


def _history(session: Session, phase: Phase, view: View) -> dict[int, list[float]]:
    """The scores of every team's last runs, oldest first, for the small curves."""
    place = func.row_number().over(partition_by=Result.team_id, order_by=Submission.created_at.desc()).label("place")
    recent = (
        select(Result.team_id, Result.score, place)
        .join(Submission, Submission.id == Result.submission_id)
        .where(Result.phase_id == phase.id, Result.current, Result.ranked, Submission.disqualified.is_(None))
        .where(Submission.created_at < view.until if view.until is not None else true())
        .subquery()
    )
    query = select(recent.c.team_id, recent.c.score).where(recent.c.place <= HISTORY)
    past: dict[int, list[float]] = defaultdict(list)
    for team, score in session.execute(query.order_by(recent.c.team_id, recent.c.place.desc())):
        past[team].append(score)
    return past
