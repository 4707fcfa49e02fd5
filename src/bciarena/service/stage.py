"""Finals on stage: the order is drawn, the same recordings are played to one team after the other on one machine that
does nothing else, and a projector shows it.

Playing and showing are two things. Runs are played as fast as entries compute, and sealed: the ledger's digest and the
circumstances are signed. What the projector shows at the pace of a person is made from ledger and recordings
(stage_show.py), so it is the same in the room, on other screens, and afterwards.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bciarena.contests import registered as find_rulebook
from bciarena.jobs.bell import ring
from bciarena.jobs.model import ENDED, Job, Worker
from bciarena.jobs.queue import HELD
from bciarena.jobs.storage import Storage
from bciarena.jobs.view import ALIVE_S
from bciarena.runs.folder import LEDGER
from bciarena.service import seals
from bciarena.service.audit import record
from bciarena.service.contests import may_manage, note, phase_state
from bciarena.service.models import Account, Phase, Result, Stage, Submission, Team
from bciarena.service.parts import terms_of
from bciarena.service.refusals import Refused, not_found
from bciarena.service.troubles import not_waiting

OPEN_TO = ("organisers", "now", "replay")
SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
LIVE_S = 5.0  # a live run not heard of for this long is over, or in trouble
ON_STAGE = 2  # priority


def drawn(seed: str, names: list[str]) -> list[str]:
    """The order that a seed gives: names by the SHA-256 of "SEED NAME", so that anyone can repeat the draw."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).hexdigest())


def stage_of(session: Session, phase: Phase) -> Stage | None:
    return session.get(Stage, phase.id)


def players(session: Session, phase: Phase) -> list[Submission]:
    """What each team plays on stage: the run it chose, else the newest that is neither late nor disqualified."""
    query = (
        select(Submission)
        .join(Job, Job.id == Submission.job_id)
        .where(Submission.phase_id == phase.id, Submission.disqualified.is_(None), ~Submission.late)
        .where(Job.state != "cancelled")
        .order_by(Submission.chosen, Submission.created_at, Submission.id)
    )
    return list({one.team_id: one for one in session.scalars(query)}.values())


def begun(stage: Stage | None) -> bool:
    """Whether somebody has played, or plays."""
    if stage is None:
        return False
    turns = any(one.get("departures") for one in stage.teams)
    return stage.machine is not None or bool(stage.seals) or turns or live_now(stage) is not None


def live_now(stage: Stage) -> dict[str, Any] | None:
    """What the live run on stage was doing a moment ago."""
    heard = float(stage.live.get("heard", 0)) if stage.live else 0.0
    return stage.live if time.time() - heard < LIVE_S else None


def draw(session: Session, actor: Account, phase: Phase, seed: str = "") -> Stage:
    """Draw the order, with a new seed or one that was agreed upon; as often as wanted, until somebody has played.

    Every draw is in the audit log and the contest's history: a second one cannot pass for the first.
    """
    if terms_of(phase).stage == "none":
        raise Refused(409, "refused.no_stage")
    stage = stage_of(session, phase)
    if begun(stage):
        raise Refused(409, "refused.stage_begun")
    runs = players(session, phase)
    if not runs:
        raise Refused(409, "refused.stage_nobody")
    seed = seed.strip() or secrets.token_hex(8)
    if len(seed) > 100 or not seed.isprintable():
        raise Refused(422, "refused.field", name="seed")
    by_name = {run.team.name: run for run in runs}
    order = [by_name[name] for name in drawn(seed, list(by_name))]
    before = "" if stage is None else f"seed {stage.seed}"
    if stage is None:
        stage = Stage(phase_id=phase.id)
        session.add(stage)
    stage.seed, stage.drawn_at = seed, time.time()
    # with the names that were drawn: a team renamed since must not make the draw look wrong
    stage.teams = [{"team": run.team_id, "run": run.id, "name": run.team.name} for run in order]
    names = ", ".join(run.team.name for run in order)
    note(session, actor, phase.contest, f"{phase.name}: order", before, f"seed {seed}: {names}")
    record(session, actor, "draw", f"{phase.contest.slug}/{phase.name}: seed {seed}: {names}")
    session.commit()
    return stage


def machines(session: Session) -> list[str]:
    """Machines with a worker that is alive."""
    seen = select(Worker.machine).where(Worker.seen_at > time.time() - ALIVE_S, Worker.engine == "local")
    return sorted(set(session.scalars(seen)))


def play(session: Session, actor: Account, phase: Phase, machine: str) -> None:
    """Play all teams in the order drawn, on one machine; the keeper sends one when the one before has ended."""
    stage = _drawn(session, phase)
    if terms_of(phase).stage != "replay":
        raise Refused(409, "refused.stage_live")
    if not phase.data:
        raise Refused(409, "refused.phase_preparing")
    if stage.machine is not None and stage.machine != machine:
        raise Refused(409, "refused.stage_begun")  # one machine for all
    if not machine or len(machine) > 255 or machine == HELD:
        raise Refused(422, "refused.field", name="machine")
    stage.machine, stage.playing = machine, True
    record(session, actor, "stage", f"{phase.contest.slug}/{phase.name}: play on {machine}")
    session.commit()


def _drawn(session: Session, phase: Phase) -> Stage:
    stage = stage_of(session, phase)
    if stage is None:
        raise Refused(409, "refused.stage_undrawn")
    return stage


# ------------------------------------------------------------------ what the keeper does


def due(session: Session) -> list[Stage]:
    """Stages on which something can be done now: a run sent, or one that has ended sealed."""
    found = session.scalars(select(Stage).where(not_waiting("stage", Stage.phase_id)).order_by(Stage.phase_id))
    return [stage for stage in found if _next(session, stage) is not None]


def _next(session: Session, stage: Stage) -> tuple[str, Submission] | None:
    """What is to be done next, and with which run."""
    for one in stage.teams:
        run = session.get_one(Submission, one["run"])
        job = session.get_one(Job, run.job_id)
        if job.state in ("finished", "failed"):
            if stage.seals.get(str(run.team_id), {}).get("said", {}).get("job") == job.id:
                continue
            return ("seal", run) if _result(session, run) is not None else None
        if not stage.playing:
            continue
        if job.only == HELD and job.state == "queued":
            return "send", run
        if job.state not in ENDED:
            return None  # it plays; one that faulted or was cancelled is passed over
    return ("end", run) if stage.playing and stage.teams else None


def _result(session: Session, run: Submission) -> Result | None:
    query = select(Result).where(Result.submission_id == run.id, Result.job_id == run.job_id, Result.current)
    return session.scalar(query.order_by(Result.id.desc()))


def advance(session: Session, storage: Storage, secret: str, stage: Stage) -> None:
    """Do the next thing on a stage."""
    todo = _next(session, stage)
    if todo is None:
        return
    what, run = todo
    if what == "send":
        job = session.get_one(Job, run.job_id)
        job.only, job.priority = stage.machine, ON_STAGE
        ring(session)
    elif what == "seal":
        stage.seals = {**stage.seals, str(run.team_id): _sealed(session, storage, secret, stage, run)}
    else:
        stage.playing = False
    session.commit()


def _sealed(session: Session, storage: Storage, secret: str, stage: Stage, run: Submission) -> dict[str, Any]:
    """What happened on stage, signed with the site's key."""
    result, job = _result(session, run), session.get_one(Job, run.job_id)
    assert result is not None
    header: dict[str, Any] = {}
    ledger = b""
    if result.run:
        ledger = storage.read(result.run, LEDGER)
        header = json.loads(ledger.partition(b"\n")[0])
    names = [one.get("name") or session.get_one(Team, one["team"]).name for one in stage.teams]
    place = [one["team"] for one in stage.teams].index(run.team_id)
    said = {
        "contest": stage.phase.contest.slug,
        "phase": stage.phase.name,
        "seed": stage.seed,
        "order": names,
        "place": place + 1,
        "team": names[place],
        "departures": [{"what": told["what"], "why": told["why"]} for told in _departures(stage, run)],
        "run": run.id,
        "job": job.id,
        "score": result.score,
        "verdict": result.verdict,
        "rulebook": find_rulebook(result.rulebook).digest,
        "data": header.get("data", ""),
        "entry": header.get("entry", ""),
        "ledger_sha256": hashlib.sha256(ledger).hexdigest(),
        "run_digest": result.run or "",
        "machine": job.machine or "",
        "sandbox": result.sandbox,
        "reference_load": header.get("reference_load"),
        "started_at": job.started_at,
        "ended_at": job.ended_at,
    }
    return seals.seal(secret, said)


def _departures(stage: Stage, run: Submission) -> list[dict[str, Any]]:
    """What departed from the order drawn for a run, see turns.py."""
    return next((one.get("departures", []) for one in stage.teams if one["run"] == run.id), [])


# ------------------------------------------------------------------ what the projector shows


def can_see(account: Account | None, stage: Stage | None) -> bool:
    return stage is not None and (stage.open_to != "organisers" or may_manage(account, stage.phase.contest))


def visible(session: Session, account: Account | None, phase: Phase) -> Stage:
    """The stage, for those who may see it; for others there is none."""
    stage = stage_of(session, phase)
    if stage is None or not can_see(account, stage):
        raise not_found()
    return stage


def shown_s(stage: Stage, now: float | None = None) -> float:
    """How much of the recording of the team on stage has been shown."""
    if stage.since is None:
        return stage.shown_s
    now = time.time() if now is None else now
    return stage.shown_s + max(0.0, now - stage.since) * stage.speed


def free(account: Account | None, stage: Stage) -> bool:
    """Whether somebody may look at any moment of any run, not only at what the projector shows."""
    return stage.open_to == "replay" or may_manage(account, stage.phase.contest)


def direct(session: Session, actor: Account, phase: Phase, act: str, value: str = "") -> None:
    """What the organiser does with the projector."""
    stage = _drawn(session, phase)
    now = time.time()
    if act in ("next", "back", "title", "outcome"):
        step = {"next": stage.at + 1, "back": stage.at - 1, "title": -1, "outcome": len(stage.teams)}[act]
        stage.at, stage.shown_s, stage.since = min(max(step, -1), len(stage.teams)), 0.0, None
        if 0 <= stage.at < len(stage.teams) and act == "next":
            stage.since = now
    elif act == "pause":
        stage.shown_s, stage.since = shown_s(stage, now), None
    elif act == "start":
        stage.since = stage.since or now
    elif act == "speed" and value in [f"{one:g}" for one in SPEEDS]:
        stage.shown_s, stage.since = shown_s(stage, now), None if stage.since is None else now
        stage.speed = float(value)
    elif act == "again":
        stage.shown_s, stage.since = 0.0, now
    elif act == "open" and value in OPEN_TO:
        if stage.open_to != value:
            note(session, actor, phase.contest, f"{phase.name}: stage", stage.open_to, value)
            record(session, actor, "stage", f"{phase.contest.slug}/{phase.name}: open to {value}")
        stage.open_to = value
    else:
        raise Refused(422, "refused.field", name="act")
    session.commit()


def in_use(phase: Phase) -> bool:
    """Whether a link to the stage belongs on the contest's pages."""
    return terms_of(phase).stage != "none" and phase_state(phase) != "trouble"
