"""Everything stored that a database needs, and who needs it."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bciarena.jobs.model import Job
from bciarena.jobs.storage import NAME
from bciarena.service.models import Download, Phase, Result, Version

PARTS = ("entry", "data", "model")


def needed(session: Session) -> dict[str, list[str]]:
    """Stored names, each with who needs it."""
    found: dict[str, list[str]] = {}
    for name, who in _all(session):
        if name and NAME.match(name):  # a reference entry (@imagery) is named, not stored
            found.setdefault(name, []).append(who)
    return found


def _all(session: Session) -> Iterator[tuple[str | None, str]]:
    for number, payload, run in session.execute(sa.select(Job.id, Job.payload, Job.run)):
        yield run, f"run of job {number}"
        for part in PARTS:
            yield payload.get(part), f"{part} of job {number}"
    for number, package, model in session.execute(sa.select(Version.id, Version.package, Version.model)):
        yield package, f"uploaded version {number}"
        yield model, f"model of version {number}"
    for number, data, about in session.execute(sa.select(Phase.id, Phase.data, Phase.data_about)):
        yield data, f"recordings of phase {number}"
        for stored in about.get("sets", {}).values():
            yield stored, f"sets to learn from of phase {number}"
    for number, stored in session.execute(sa.select(Download.id, Download.stored)):
        yield stored, f"download {number}"
    for submission, run in session.execute(sa.select(Result.submission_id, Result.run)):
        yield run, f"result of run {submission}"
