"""Submissions (提交, 部署): sending a version to a phase, and its state."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import func, or_, select, union, update
from sqlalchemy.orm import Session, aliased

from bciarena.contests import registered as find_rulebook
from bciarena.jobs.model import ENDED, Job
from bciarena.jobs.queue import HELD, Queue, enqueue, waits_apart
from bciarena.service import parts, phases
from bciarena.service.asker import Asker
from bciarena.service.audit import record
from bciarena.service.contests import may_manage, phase_state
from bciarena.service.models import Account, Admission, Membership, Phase, Result, Submission, Team, Version
from bciarena.service.parts import AnyResult, terms_of
from bciarena.service.refusals import Refused, not_found
from bciarena.service.results import BOXED, is_boxed
from bciarena.service.spec import Granted

DAY_S = 86400
RUNNING_EACH = 2
"""How many runs of one team may run at the same time."""


def submit(session: Session, account: Account, version: Version, phase: Phase, boxed: bool) -> Submission:
    """Queue a run of a version on a phase's recordings, within the day's limit."""
    team = version.entry.team
    if session.get(Membership, (team.id, account.id)) is None:
        raise not_found()
    if version.entry.challenge != find_rulebook(phase.contest.rulebook).name:
        raise Refused(422, "refused.challenge", challenge=version.entry.challenge)
    state = phase_state(phase)
    if state not in ("open", "late"):
        raise Refused(409, f"refused.phase_{state}")
    phases.check_team(session, phase, team)
    Granted(**phase.limits).check(version.about, find_rulebook(phase.contest.rulebook))
    if not boxed and not team.house:
        raise Refused(503, "refused.no_box")
    # Two submissions at the same moment must not both use the last one of the day: the rows of the person and of the
    # team, always in this order, are the locks.
    session.execute(select(Account.id).where(Account.id == account.id).with_for_update())
    session.execute(select(Team.id).where(Team.id == team.id).with_for_update())
    if phase.daily_limit and used_today(session, phase.id, team.id, account.id) >= phase.daily_limit:
        tomorrow_s = DAY_S - time.time() % DAY_S
        raise Refused(429, "refused.daily_limit", again_s=tomorrow_s, most=phase.daily_limit)
    most = terms_of(phase).total_limit
    if most and phases.used_in_all(session, phase.id, team.id, account.id) >= most:
        raise Refused(409, "refused.total_limit", most=most)
    return _send(session, account.id, version, phase, team, boxed, late=state == "late")


def _send(
    session: Session, by: int, version: Version, phase: Phase, team: Team, boxed: bool, **flags: bool
) -> Submission:
    job = _queue(session, version, phase, team, boxed)
    submission = Submission(phase_id=phase.id, team_id=team.id, version_id=version.id, by=by, job_id=job.id, **flags)
    session.add(submission)
    session.commit()
    return submission


def carry(session: Session, admission: Admission, boxed: bool) -> Submission | None:
    """Send what counted in the earlier phase to the one its team was admitted to, unless it has submitted itself, or
    nothing of it counts any more; once.
    """
    phase = session.get_one(Phase, admission.phase_id)
    own = (Submission.phase_id == phase.id, Submission.team_id == admission.team_id)
    sent = session.scalar(select(Submission.id).where(*own).limit(1))
    old = phases.carried_from(session, phase, admission.team_id) if sent is None else None
    admission.how = "place"
    if old is None:
        session.commit()
        return None
    return _send(session, old.by, old.version, phase, old.team, boxed, carried=True)


def used_today(session: Session, phase_id: int, team_id: int, account_id: int) -> int:
    """Submissions of this UTC day by the team, and by this person for any team: a second team is no second limit.

    Those failed by our fault do not count, nor those cancelled before a worker took them. A run that was begun does:
    its progress has told something about the recordings.
    """
    midnight = time.time() // DAY_S * DAY_S
    shard = aliased(Job)
    begun = or_(
        Job.started_at.is_not(None),
        select(shard.id).where(shard.parent == Job.id, shard.started_at.is_not(None)).exists(),
    )
    query = (
        select(func.count())
        .select_from(Submission)
        .join(Job, Job.id == Submission.job_id)
        .where(
            Submission.phase_id == phase_id,
            or_(Submission.team_id == team_id, Submission.by == account_id),
            Submission.created_at >= midnight,
            Job.state != "faulted",
            or_(Job.state != "cancelled", begun),
        )
    )
    return session.scalar(query) or 0


def _queue(session: Session, version: Version, phase: Phase, team: Team, boxed: bool, priority: int = 0) -> Job:
    payload = {
        "challenge": phase.contest.rulebook,
        "entry": version.package,
        "data": phase.data,
        "data_digest": phase.data_about.get("digest"),
        "clock": "think",
        # Uploads run boxed or not at all; our own entries may run without a box, and are marked as such.
        "sandbox": "none" if team.house and not boxed else BOXED,
        "ranked": not team.house,
    }
    granted = Granted(**phase.limits).model_dump(include={"cores", "memory_mib"}, exclude_none=True)
    if granted:
        payload["limits"] = granted
    if phase.contest.images:
        payload["images"] = phase.contest.images
    if phase.limits.get("budget_s"):
        payload["budget_s"] = phase.limits["budget_s"]
    learning = terms_of(phase).calibration
    if learning.mode != "none":
        payload["calibration"] = learning.payload(phase.data_about.get("sets", {}))
    if version.about.get("entry"):
        payload["target"] = version.about["entry"]
    if version.model:
        payload["model"] = version.model
    apart = None if team.house else _kept_apart(session, team)
    # On a stage nobody plays before it is said: see stage.py.
    only = HELD if terms_of(phase).stage != "none" else None
    return enqueue(
        session, "match", payload, team=f"team-{team.id}", team_limit=RUNNING_EACH, priority=priority, apart=apart,
        only=only,
    )  # fmt: skip


def _kept_apart(session: Session, team: Team) -> str:
    """What runs of these people have in common; those that wait or run already get the same.

    On whatever data they are: one that has learnt from hidden recordings could tell another, whose output is shown.
    People join teams between two submissions, which may have connected teams that were not.
    """
    circle = _circle(session, team.id)
    apart = f"teams around {min(circle)}"
    session.execute(
        update(Job)
        .where(Job.team.in_([f"team-{one}" for one in circle]), Job.state.not_in(ENDED), Job.apart.is_not(None))
        .values(apart=apart)
    )
    return apart


def _circle(session: Session, team: int) -> set[int]:
    """A team and all teams connected with it by people: their runs could be one person's.

    Whoever has submitted for a team counts, too: leaving it ends no run.
    """
    found, new = {team}, {team}
    while new:
        people = union(
            select(Membership.account_id).where(Membership.team_id.in_(new)),
            select(Submission.by).where(Submission.team_id.in_(new)),
        )
        teams = union(
            select(Membership.team_id).where(Membership.account_id.in_(people)),
            select(Submission.team_id).where(Submission.by.in_(people)),
        )
        new = set(session.scalars(teams)) - found
        found |= new
    return found


@dataclass
class Status:
    """What a submission is doing, read from its job's row, and what it is worth, read from its result.

    ``settled``: whether the result of a run that has ended with a verdict is there (the keeper writes it a moment
    later). Until then verdict, reason and score are the job's own.
    """

    state: str  # queued, preparing, running, scored, failed, faulted, cancelled
    final: bool
    verdict: str | None = None
    reason: str = ""
    before: int | None = None  # how many jobs are queued before it
    waits: str = ""  # why it waits although its turn may have come: apart, put_back
    faults: int = 0
    progress: dict[str, Any] = field(default_factory=dict)
    score: float | None = None
    settled: bool = True


def status_of(session: Session, job: Job, result: AnyResult | None, partial: bool = False) -> Status:
    """The state a person is shown, derived from the submission's job and its current result, as they may see it.

    Verdict and score are those of the result: a run may have been re-scored since it was played. While a submission
    runs again its earlier result remains. ``partial``: only a part of the result may be told, so never the job's own.
    """
    status = _job_status(session, job)
    status.settled = status.state not in ("scored", "failed") or (result is not None and result.job_id == job.id)
    status.score = None if partial else status.score
    if result is not None:
        status.score = result.score
        if result.job_id == job.id and status.verdict is not None:
            status.verdict, status.reason = result.verdict, result.reason
    return status


def _job_status(session: Session, job: Job) -> Status:
    if job.state == "queued":
        before = session.scalar(
            select(func.count()).where(Job.state == "queued", Job.id < job.id, Job.parent.is_(None))
        )
        if job.faults:
            return Status("faulted", False, reason=job.error or "", faults=job.faults, before=before)
        if job.only == HELD:
            return Status("queued", False, waits="stage")
        waits = "apart" if waits_apart(session, job) else "put_back" if job.attempt else ""
        return Status("queued", False, before=before, waits=waits)
    if job.state == "leased":
        progress = _progress(session, job)
        return Status("running" if progress else "preparing", False, progress=progress, faults=job.faults)
    if job.state in ("finished", "failed"):
        score = (job.result or {}).get("score")
        state = "scored" if job.state == "finished" else "failed"
        return Status(state, True, job.verdict, (job.result or {}).get("reason") or job.error or "", score=score)
    if job.state == "faulted":
        return Status("faulted", True, reason=job.error or "", faults=job.faults)
    return Status("cancelled", True)


def _progress(session: Session, job: Job) -> dict[str, Any]:
    """Where a run is; of a match cut by subject the sum over its parts."""
    parts = list(session.scalars(select(Job).where(Job.parent == job.id)))
    found = [one.progress for one in parts or [job] if one.progress and one.progress.get("total_packets")]
    if not found:
        return {}
    newest = dict(found[-1])
    for name in ("packets", "total_packets", "reports", "packets_per_s"):
        newest[name] = sum(one.get(name) or 0 for one in found)
    newest["share"] = round(newest["packets"] / max(newest["total_packets"], 1), 4)
    return newest


def owns(session: Session, account: Account | None, submission: Submission) -> bool:
    """Whether somebody may act on a submission: members of its team, the contest's organiser, operators."""
    member = account is not None and session.get(Membership, (submission.team_id, account.id)) is not None
    return member or may_manage(account, submission.phase.contest)


def submission_for(session: Session, account: Account, submission_id: int) -> Submission:
    """A submission the account may act on; for anyone else it does not exist."""
    found = session.get(Submission, submission_id)
    if found is None or not owns(session, account, found):
        raise not_found()
    return found


def runs_open(phase: Phase) -> bool:
    """Whether anyone may read runs of the reference entries: nothing is secret where data and board are public."""
    return phase.published and not phase.hidden_data


def readable_submission(asker: Asker, submission_id: int) -> Submission:
    """A submission that anyone may read, without an account, or the asker's own."""
    found = asker.session.get(Submission, submission_id)
    if found is not None and found.team.house and runs_open(found.phase):
        return found
    return submission_for(asker.session, asker.me, submission_id)


def sees_truth(account: Account | None, submission: Submission) -> bool:
    """Whether per-trial marks may be shown: always to the organiser, to contestants only where the data is public.

    Nor where the entry has learnt from sets that are given to nobody: by its answers it could speak of those.
    """
    secret = submission.phase.hidden_data or bool(terms_of(submission.phase).calibration.sets)
    return not secret or may_manage(account, submission.phase.contest)


def sees_output(account: Account | None, submission: Submission) -> bool:
    """Whether all that an entry itself chooses may be shown: what it printed, raised and reported, how fast it was.

    One that has learnt from hidden recordings could speak of them; where the organiser says so, none may speak.
    """
    terms = terms_of(submission.phase)
    quiet = terms.output == "hidden" or terms.calibration.mode != "none"
    return sees_truth(account, submission) or not quiet


def current_result(session: Session, submission: Submission) -> Result | None:
    query = select(Result).where(Result.submission_id == submission.id, Result.current)
    return session.scalar(query.order_by(Result.id.desc()))


BEFORE = ("import_error", "invalid_entry")
"""Verdicts on what was not played at all: their reasons tell nothing about the recordings, unless it has learnt from
some: it reads its model while it is loaded."""


def data_of(session: Session, result: Result) -> str:
    """The stored recordings that a result's run was played on: the phase's own, or those of a live session."""
    return str(session.get_one(Job, result.job_id).payload["data"])


class Seen(NamedTuple):
    """What somebody may see of a submission: its state, its result or a part of it, rounded, and whether it is that."""

    status: Status
    result: AnyResult | None
    partial: bool


def seen(session: Session, account: Account | None, submission: Submission) -> Seen:
    """A submission as this account may see it; every page and call shows what this returns."""
    job = session.get_one(Job, submission.job_id)
    return seen_of(session, account, submission, job, current_result(session, submission))


def seen_of(session: Session, account: Account | None, submission: Submission, job: Job, result: Result | None) -> Seen:
    phase = submission.phase
    full = may_manage(account, phase.contest)
    told, partial = parts.shown(phase, result, full), parts.partial(phase, full) or parts.rounds(phase, full)
    status = status_of(session, job, told, partial)
    if not sees_output(account, submission):
        status.progress = {}
        learnt = status.verdict == "import_error" and terms_of(phase).calibration.mode != "none"
        if status.verdict not in BEFORE or learnt:
            status.reason = ""
    return Seen(status, told, partial)


def managed_submission(session: Session, account: Account, submission_id: int) -> Submission:
    """A submission to a contest that the account manages."""
    found = submission_for(session, account, submission_id)
    if not may_manage(account, found.phase.contest):
        raise Refused(403, "refused.role_needed")
    return found


def cancel(session: Session, queue: Queue, actor: Account, submission: Submission) -> None:
    """End a run that has not ended; recorded in the audit log if it is not the actor's own."""
    if session.get(Membership, (submission.team_id, actor.id)) is None:
        record(session, actor, "cancel", f"run {submission.id}")
    session.commit()
    queue.cancel(submission.job_id)


def rerun(session: Session, actor: Account, submission: Submission, boxed: bool) -> None:
    """Run a submission again, from nothing; its earlier result stays until the new one is there."""
    job = session.get_one(Job, submission.job_id)
    if job.state in ("queued", "leased"):
        raise Refused(409, "refused.still_running")
    _not_on_stage(submission.phase)
    requeue(session, submission, boxed)
    record(session, actor, "rerun", f"run {submission.id}")
    session.commit()


def requeue(session: Session, submission: Submission, boxed: bool) -> None:
    """Give a submission a new run."""
    submission.job_id = _queue(
        session, submission.version, submission.phase, submission.team, boxed, priority=1
    ).id  # fmt: skip


def _not_on_stage(phase: Phase) -> None:
    """On a stage a turn is repeated with a reason that everybody sees (turns.py)."""
    if terms_of(phase).stage != "none":
        raise Refused(409, "refused.stage_rerun")


AGAIN = ("all", "unboxed", "failed", "faulted")


def rerun_all(session: Session, actor: Account, phase: Phase, which: str, boxed: bool) -> int:
    """Run all ended submissions of a phase again, or those that were not boxed, failed, or failed by our fault."""
    if which not in AGAIN:
        raise Refused(422, "refused.field", name="which")
    if which != "unboxed":  # those have no rank: playing them again changes no outcome
        _not_on_stage(phase)
    query = (
        select(Submission, Job.state, Result)
        .join(Job, Job.id == Submission.job_id)
        .outerjoin(Result, (Result.submission_id == Submission.id) & Result.current)
        .where(Submission.phase_id == phase.id, Job.state.in_(("finished", "failed", "faulted")))
        .order_by(Submission.id)
    )
    chosen = [
        run
        for run, state, result in session.execute(query)
        if which in ("all", state) or (which == "unboxed" and result is not None and not is_boxed(result.sandbox))
    ]
    for run in chosen:
        requeue(session, run, boxed)
    record(session, actor, "rerun", f"{phase.contest.slug}/{phase.name}: {which}, {len(chosen)} runs")
    session.commit()
    return len(chosen)


def disqualify(session: Session, actor: Account, submission: Submission, reason: str | None) -> None:
    """Take a run off the board with a reason its team can read, or (None) put it back."""
    submission.disqualified = reason.strip()[:300] if reason and reason.strip() else None
    submission.phase.revision += 1
    record(session, actor, "disqualify", f"run {submission.id}: {submission.disqualified or 'taken back'}")
    session.commit()
