"""Tables for spreadsheets."""

from __future__ import annotations

import csv
import datetime
import io
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bciarena.contests import registered as find_rulebook
from bciarena.jobs.model import Job
from bciarena.plaintext import table_cell
from bciarena.report.part import part_of
from bciarena.service.models import Entry, Phase, Result, Submission, Team, Version


def board_csv(session: Session, phase: Phase) -> str:
    """Every submission of a phase, one row each, with its result and whether it counts.

    ``same_people_low`` and ``same_people_high`` are the run's own 95 % interval for new blocks of the same people,
    ``new_people_low`` and ``new_people_high`` the one for new people; neither allows for choosing the best of
    several runs.
    """
    book = find_rulebook(phase.contest.rulebook)
    columns = part_of(book).columns
    query = (
        select(Submission, Team.name, Entry.name, Version.number, Job.state, Result)
        .join(Team, Team.id == Submission.team_id)
        .join(Version, Version.id == Submission.version_id)
        .join(Entry, Entry.id == Version.entry_id)
        .join(Job, Job.id == Submission.job_id)
        .outerjoin(Result, (Result.submission_id == Submission.id) & Result.current)
        .where(Submission.phase_id == phase.id)
        .order_by(Submission.id)
    )
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ["submission", "team", "entry", "version", "submitted_utc", "job_state", "verdict", "rulebook", "score",
         "same_people_low", "same_people_high", *columns, "sandbox", "ranked", "disqualified",
         "new_people_low", "new_people_high"]
    )  # fmt: skip
    for submission, team, entry, number, state, result in session.execute(query):
        at = datetime.datetime.fromtimestamp(submission.created_at, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        values: list[Any] = [""] * (5 + len(columns) + 2)
        new_people: tuple[float | None, float | None] = (None, None)
        if result is not None:
            new_people = result.new_low, result.new_high
            values = [result.verdict, result.rulebook, result.score, result.low, result.high]
            values += [result.metrics.get(name, "") for name in columns] + [result.sandbox, int(result.ranked)]
        row = [
            submission.id,
            team,
            entry,
            number,
            at,
            state,
            *values,
            submission.disqualified or "",
            *new_people,
        ]
        writer.writerow(["" if value is None else table_cell(value) for value in row])
    return out.getvalue()
