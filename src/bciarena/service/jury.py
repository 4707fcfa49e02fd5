"""The jury pack of a phase: ranking, awards, intervals, ties, violations, disqualifications, digests, and how every
number can be recomputed. One page that prints well, and a table.
"""

from __future__ import annotations

import csv
import io
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

import bciarena
from bciarena.contests import Rulebook
from bciarena.contests import registered as find_rulebook
from bciarena.errors import Fault
from bciarena.jobs.model import Job
from bciarena.plaintext import table_cell
from bciarena.service import seals
from bciarena.service.awards import Given, Standing, given, standing
from bciarena.service.boards import Board, make_board
from bciarena.service.changes import told
from bciarena.service.models import Admission, AuditLine, Change, Phase, Result, Stage, Submission, Team
from bciarena.service.parts import terms_of, view_of
from bciarena.service.phases import admissions_of, source_of
from bciarena.service.results import score_of_run
from bciarena.service.shown import FILTERS
from bciarena.service.site import Site
from bciarena.service.submissions import current_result, data_of
from bciarena.service.texts import say
from bciarena.service.turns import departures
from bciarena.service.words import challenge_title, contest_title, metric_name, phase_title, unit_name

NOTES_SHOWN = 10
COLUMNS = (
    "place", "team", "award", "phase", "score", "low", "high", "new_people_low", "new_people_high", "tied_from",
    "tied_to", "p", "tested", "run", "runs", "submitted_utc", "verdict", "violations", "entry", "version",
    "package_digest", "run_digest", "rulebook", "rulebook_digest", "data_digest",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A team of the order, with all that its number rests on."""

    at: Standing
    award: str
    submission: Submission
    result: Result
    book: Rulebook
    violations: list[str]
    data: str  # digest of the recordings it was played on

    @property
    def package(self) -> str:
        return self.submission.version.package


@dataclass(frozen=True)
class Pack:
    phase: Phase
    board: Board
    book: Rulebook
    lines: list[Line]
    awards: list[Given]
    out: list[tuple[Submission, Result | None, str]]  # disqualified: run, result, who did it and when
    late: list[Submission]
    admitted: list[Admission]
    changes: list[Change]
    made_at: float
    stage: Stage | None = None
    departures: tuple[dict[str, Any], ...] = ()  # from the order drawn on stage, see turns.py

    @property
    def groups(self) -> list[list[Line]]:
        """Teams that cannot be told apart, where there are two or more."""
        found: dict[tuple[str, int | None], list[Line]] = {}
        for line in self.lines:
            if line.at.row.tested:
                found.setdefault((line.at.phase, line.at.row.first), []).append(line)
        return [group for group in found.values() if len(group) > 1]


def pack(session: Session, site: Site, phase: Phase, lang: str = "en") -> Pack:
    """Everything about the outcome of a phase, from the database and the stored runs."""
    order = standing(session, phase)
    awards = given(phase, order)
    names = {one.row.team_id: _name(award, lang) for award in awards for one in award.teams}
    lines = []
    for at in order:
        submission = session.get_one(Submission, at.row.submission_id)
        result = current_result(session, submission)
        if result is None:
            continue
        lines.append(
            Line(at, names.get(at.row.team_id, ""), submission, result, find_rulebook(result.rulebook),
                 _violations(site, result), str(session.get_one(Job, result.job_id).payload.get("data_digest") or ""))
        )  # fmt: skip
    runs = list(session.scalars(select(Submission).where(Submission.phase_id == phase.id).order_by(Submission.id)))
    out = [(run, current_result(session, run), _by_whom(session, run)) for run in runs if run.disqualified]
    history = select(Change).where(Change.contest_id == phase.contest_id).order_by(Change.id)
    return Pack(
        phase, make_board(session, phase, view_of(phase, full=True)), find_rulebook(phase.contest.rulebook), lines,
        awards, out, [run for run in runs if run.late], admissions_of(session, phase),
        list(session.scalars(history)), time.time(), session.get(Stage, phase.id), _departures(session, phase),
    )  # fmt: skip


def _departures(session: Session, phase: Phase) -> tuple[dict[str, Any], ...]:
    stage = session.get(Stage, phase.id)
    return tuple(
        {"team": session.get_one(Team, one["team"]).name, **told}
        for one in (stage.teams if stage else ())
        for told in departures(one)
    )


def runs_behind(session: Session, phase: Phase) -> list[tuple[Submission, Result, str]]:
    """Every run that a number of the pack rests on, with the stored recordings it was played on: those that count in
    the phase, and in the ones before it.
    """
    found = []
    stage: Phase | None = phase
    while stage is not None:
        for row in make_board(session, stage, view_of(stage, full=True)).rows:
            run = session.get_one(Submission, row.submission_id)
            result = current_result(session, run)
            if result is not None and result.run:
                found.append((run, result, data_of(session, result)))
        stage = source_of(stage)
    return found


def _name(one: Given, lang: str) -> str:
    return one.award.name_zh if lang == "zh" and one.award.name_zh else one.award.name


def _violations(site: Site, result: Result) -> list[str]:
    """What the referee noted about a run; a stored file that is missing says so here."""
    found = [] if result.verdict == "ok" else [f"{result.verdict}: {result.reason}".rstrip(": ")]
    if result.run:
        try:
            found += [str(note) for note in score_of_run(site.storage, result.run).get("notes", [])]
        except Fault as error:
            found.append(str(error))
    return found[:NOTES_SHOWN]


def _by_whom(session: Session, run: Submission) -> str:
    """Who disqualified a run last, by the audit log."""
    held = (AuditLine.what == "disqualify") & AuditLine.about.startswith(f"run {run.id}:")
    line = session.scalar(select(AuditLine).where(held).order_by(AuditLine.id.desc()).limit(1))
    return "" if line is None else f"{line.who}, {_utc(line.created_at)}"


def _utc(at: float | None) -> str:
    return "" if at is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))


def page(site: Site, found: Pack, lang: str) -> str:
    """The pack as one page of HTML that needs nothing else."""
    contest = found.phase.contest
    t = partial(say, lang)
    return site.templates.get_template("jury.html").render(
        t=t,
        lang=lang,
        pack=found,
        changes=[told(lang, one) for one in found.changes],
        phase=found.phase,
        contest=contest,
        terms=terms_of(found.phase),
        title=contest_title(lang, contest),
        stage=phase_title(t, found.phase),
        challenge=challenge_title(lang, found.book.name),
        unit=unit_name(lang, found.book.unit),
        metric_name=partial(metric_name, lang, found.book),
        award_name=lambda one: _name(one, lang),
        prize=lambda one: one.award.prize_zh if lang == "zh" and one.award.prize_zh else one.award.prize,
        utc=_utc,
        version=bciarena.__version__,
        key=seals.public_key(site.settings.secret) if found.stage else "",
        metric=FILTERS["metric"],
    )


def table(found: Pack) -> str:
    """The pack's order as CSV."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for line in found.lines:
        row, run = line.at.row, line.submission
        values: list[Any] = [
            line.at.place, row.team, line.award, line.at.phase, row.score, row.low, row.high, row.new_low, row.new_high,
            row.first, row.last, row.p, int(row.tested), run.id, row.runs, _utc(run.created_at), row.verdict,
            "; ".join(line.violations), run.version.entry.name, run.version.number, line.package, line.result.run,
            line.result.rulebook, line.book.digest, line.data,
        ]  # fmt: skip
        writer.writerow(["" if value is None else table_cell(value) for value in values])
    return out.getvalue()
