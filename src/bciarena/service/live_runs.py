"""Live sessions and live runs that belong to a phase: recorded once and replayed to all, or one session for each team.

What comes from a lab is treated as any run: the package must be one its team has uploaded, and the score is made anew
from ledger and recordings.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bciarena.contests import registered as find_rulebook
from bciarena.entries.package import open_entry
from bciarena.errors import BadInput
from bciarena.jobs.model import Job
from bciarena.jobs.perform import entry_spec, outcome_of
from bciarena.jobs.queue import HELD
from bciarena.jobs.storage import Storage
from bciarena.runs import RunFolder, rescore
from bciarena.scratch import scratch
from bciarena.service import contests, stage, turns
from bciarena.service.audit import record
from bciarena.service.models import Account, Phase, Submission
from bciarena.service.parts import terms_of


def record_session(
    session: Session, storage: Storage, secret: str, actor: Account | None, phase: Phase, folder: Path
) -> dict[str, Any]:
    """Make a recorded session the recordings of a phase, as long as nobody has played; returns what it holds."""
    if terms_of(phase).stage != "replay":
        raise BadInput(f'{phase.name}: is no phase with stage = "replay"')
    if stage.begun(stage.stage_of(session, phase)):
        raise BadInput(f"{phase.name}: somebody has played already; the same recordings are played to all")
    name, about = contests.kept_recordings(storage, secret, phase, folder)
    before = phase.data_about.get("digest", "")
    phase.data, phase.data_about = name, {"order": {"live": True}, "sets": phase.data_about.get("sets", {}), **about}
    phase.revision += 1
    runs = select(Submission.job_id).where(Submission.phase_id == phase.id)
    for job in session.scalars(select(Job).where(Job.id.in_(runs), Job.only == HELD, Job.state == "queued")):
        job.payload = {**job.payload, "data": name, "data_digest": about["digest"]}
    owner = actor or phase.contest.owner
    contests.note(session, owner, phase.contest, f"{phase.name}: data", before, f"session {about['digest']}")
    record(session, actor, "stage", f"{phase.contest.slug}/{phase.name}: recorded {about['digest']}")
    session.commit()
    return about


def waiting_run(session: Session, phase: Phase, team: str, why: str = "", actor: Account | None = None) -> Submission:
    """The run of a team that plays live now, in the order drawn or, for a reason that is kept, before its turn."""
    if terms_of(phase).stage != "live":
        raise BadInput(f'{phase.name}: is no phase with stage = "live"')
    return turns.begin(session, actor, phase, team, why)


def attach(
    session: Session, storage: Storage, actor: Account | None, phase: Phase, team: str, folder: Path, data: Path | None,
    why: str = "", machine: str | None = None,
) -> Submission:  # fmt: skip
    """Take a live run's folder as the run of a team; the keeper makes its result. ``machine``: where it was played."""
    run = waiting_run(session, phase, team, why, actor)
    job, book = session.get_one(Job, run.job_id), find_rulebook(phase.contest.rulebook)
    header, _, _ = RunFolder(folder).ledger()
    if header["challenge"] != book.id:
        raise BadInput(f"{folder}: is a run under {header['challenge']}, not {book.id}")
    with open_entry(entry_spec(job.payload, storage), book, entry=job.payload.get("target")) as package:
        if header["entry"] != package.digest:
            raise BadInput(f"{folder}: is not a run of {team}'s package (run {run.id}): its digest differs")
    where = data or Path(RunFolder(folder, lenient=True).about().get("data", ""))
    result = rescore(folder, where, book.id)  # never what the folder itself says
    stored = storage.put(where)
    with scratch(temporary=True) as work:
        copy = work / "run"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("data", "bids"))
        RunFolder(copy).write_score(result)
        outcome = outcome_of(result, copy, storage, header["data"])
    kept = outcome.result or {}
    job.payload = {**job.payload, "data": stored, "data_digest": header["data"], "live": header["data"]}
    job.state = "finished" if outcome.verdict == "ok" else "failed"
    job.verdict, job.result, job.run, job.error = outcome.verdict, kept, outcome.run, outcome.error or None
    job.ended_at, job.machine = time.time(), machine
    job.started_at = job.ended_at - float(kept.get("wall_s", 0.0))
    if machine is None:
        turns.attached(session, actor, phase, run, folder.resolve().name)
    record(session, actor, "stage", f"{phase.contest.slug}/{phase.name}: live run of {team} (run {run.id})")
    session.commit()
    return run
