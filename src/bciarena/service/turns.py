"""Whose turn it is on a stage. Teams play live in the order drawn; what departs from it is kept with its reason.

A departure stands with the team it concerns (``Stage.teams``): "early", it played before its turn; "again", its turn
was repeated, because something on our side had disturbed it; "attached", its run was brought in as a folder, and
nothing but that folder says how it was played. All are on the projector, in the signed statement, in the jury pack and
in the contest's history; what was signed of a turn that was repeated is kept, too.
"""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy.orm import Session

from bciarena.errors import BadInput
from bciarena.jobs.model import ENDED, Job
from bciarena.service.audit import record
from bciarena.service.contests import note
from bciarena.service.models import Account, Phase, Stage, Submission
from bciarena.service.refusals import Refused
from bciarena.service.submissions import requeue

WHY_MOST = 300


def departures(one: dict[str, Any]) -> list[dict[str, Any]]:
    """What departed from the order for a team of a stage, oldest first."""
    return list(one.get("departures", ()))


def turn_of(session: Session, stage: Stage) -> Submission | None:
    """The run of the team whose turn it is: the first in the order that has not played."""
    for one in stage.teams:
        run = session.get_one(Submission, one["run"])
        if run.disqualified is None and session.get_one(Job, run.job_id).state not in ENDED:
            return run
    return None


def begin(session: Session, actor: Account | None, phase: Phase, team: str, why: str = "") -> Submission:
    """The run that a team plays now: in its turn, or before it for a reason that is kept (with the next commit)."""
    stage = session.get(Stage, phase.id)
    if stage is None:
        raise BadInput(f"{phase.name}: no order was drawn; draw it on the stage's page or with arena stage draw")
    runs = {run.team.name: run for run in (session.get_one(Submission, one["run"]) for one in stage.teams)}
    if team not in runs:
        raise BadInput(f"{team}: has nothing to play in {phase.name}; there are {', '.join(runs)}")
    run, due = runs[team], turn_of(session, stage)
    if run.disqualified is not None:
        raise BadInput(f"{team}: is disqualified ({run.disqualified})")
    job = session.get_one(Job, run.job_id)
    if job.state != "queued":
        raise BadInput(f"{team}: has played already (run {run.id}); arena stage repeat, if our side disturbed it")
    if due is None or due.id == run.id or _is_early(stage, run):
        return run
    if not _reason(why):
        raise BadInput(f"{team}: it is the turn of {due.team.name}; --out-of-turn REASON lets {team} play before it")
    _depart(session, actor or phase.contest.owner, stage, run, "early", why)
    return run


def repeat(session: Session, actor: Account, phase: Phase, team: str, why: str, boxed: bool) -> Submission:
    """Let a team play its turn again; the earlier result stays until the new one is there."""
    stage = session.get(Stage, phase.id)
    found = [session.get_one(Submission, one["run"]) for one in stage.teams] if stage else []
    run = next((one for one in found if one.team.name == team), None)
    if stage is None or run is None:
        raise Refused(404, "refused.stage_no_team", team=team)
    if not _reason(why):
        raise Refused(422, "refused.stage_reason")
    if session.get_one(Job, run.job_id).state not in ENDED:
        raise Refused(409, "refused.still_running")
    _depart(session, actor, stage, run, "again", why)
    requeue(session, run, boxed)
    stage.at = min(stage.at, next(k for k, one in enumerate(stage.teams) if one["run"] == run.id) - 1)
    stage.shown_s, stage.since = 0.0, None
    session.commit()
    return run


def attached(session: Session, actor: Account | None, phase: Phase, run: Submission, folder: str) -> None:
    """Note that a run was not played here (with the next commit): its reports may be anybody's."""
    _depart(session, actor or phase.contest.owner, session.get_one(Stage, phase.id), run, "attached", folder)


def turn_number(session: Session, run: Submission) -> int:
    """Which of its turns a run plays: 1, or more where turns were repeated."""
    stage = session.get_one(Stage, run.phase_id)
    return 1 + sum(bool(told["what"] == "again") for told in _of(stage, run))


def _reason(why: str) -> str:
    return " ".join(why.split())[:WHY_MOST]


def _of(stage: Stage, run: Submission) -> list[dict[str, Any]]:
    return departures(next(one for one in stage.teams if one["run"] == run.id))


def _is_early(stage: Stage, run: Submission) -> bool:
    """Whether it was said that this turn of it comes early."""
    told = _of(stage, run)
    return bool(told) and told[-1]["what"] == "early"


def _depart(session: Session, actor: Account, stage: Stage, run: Submission, what: str, why: str) -> None:
    told = {"what": what, "why": _reason(why), "who": actor.name, "at": time.time()}
    signed = stage.seals.get(str(run.team_id)) if what == "again" else None
    if signed is not None:
        told["signed"] = signed
        stage.seals = {team: one for team, one in stage.seals.items() if team != str(run.team_id)}
    stage.teams = [
        {**one, "departures": [*departures(one), told]} if one["run"] == run.id else one for one in stage.teams
    ]
    place = f"{stage.phase.name}: turn"
    note(session, actor, stage.phase.contest, place, "", f"{run.team.name}: {what}: {told['why']}")
    record(session, actor, "stage", f"{stage.phase.contest.slug}/{place} of {run.team.name}: {what}: {told['why']}")
