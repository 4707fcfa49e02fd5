"""Phases that follow each other: who is admitted, what carries over, which run counts, how often one may submit."""

from __future__ import annotations

import time

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from bciarena.jobs.model import ENDED, Job
from bciarena.service import letters
from bciarena.service.audit import record
from bciarena.service.boards import Row, make_board
from bciarena.service.contests import is_over, phase_state
from bciarena.service.models import (
    Account,
    Admission,
    Contest,
    Membership,
    Phase,
    Registration,
    Result,
    Submission,
    Team,
)
from bciarena.service.parts import terms_of, view_of
from bciarena.service.refusals import Refused, not_found
from bciarena.service.troubles import not_waiting


def final_rows(session: Session, phase: Phase) -> list[Row]:
    """The ranked teams of a phase in the order that decides: the whole board, without our own entries."""
    rows = make_board(session, phase, view_of(phase, full=True)).rows
    return [row for row in rows if row.rank is not None and not row.house]


def check_team(session: Session, phase: Phase, team: Team) -> None:
    """Refuse a team that may not submit to a phase. Our own reference entries may."""
    if team.closed_at is not None:
        raise Refused(409, "refused.team_closed")
    if team.house:
        return
    contest = phase.contest
    if contest.joining == "approval":
        asked = session.get(Registration, (contest.id, team.id))
        if asked is None or asked.state != "admitted":
            raise Refused(403, f"refused.registration_{asked.state if asked else 'none'}")
    if contest.one_team and (others := other_teams(session, contest, team)):
        raise Refused(409, "refused.one_team", team=others[0])
    if terms_of(phase).admits != "all" and session.get(Admission, (phase.id, team.id)) is None:
        raise Refused(403, "refused.not_admitted")


def other_teams(session: Session, contest: Contest, team: Team) -> list[str]:
    """Teams in the contest that share a member with this one, or somebody who submitted for it and left it since."""
    phases = select(Phase.id).where(Phase.contest_id == contest.id)
    here = Submission.phase_id.in_(phases)
    members = select(Membership.account_id).where(Membership.team_id == team.id)
    people = members.union(select(Submission.by).where(here, Submission.team_id == team.id))
    theirs = select(Membership.team_id).where(Membership.account_id.in_(people))
    shared = theirs.union(select(Submission.team_id).where(here, Submission.by.in_(people)))
    entered = select(Submission.team_id).where(here)
    asked = select(Registration.team_id).where(Registration.contest_id == contest.id, Registration.state != "refused")
    query = select(Team.name).where(
        Team.id.in_(shared), Team.id != team.id, or_(Team.id.in_(entered), Team.id.in_(asked)), ~Team.house
    )
    return list(session.scalars(query.order_by(Team.name)))


def used_in_all(session: Session, phase_id: int, team_id: int, account_id: int) -> int:
    """Submissions to a phase by a team, and by this person for any team; those that failed by our fault left out."""
    query = (
        select(func.count())
        .select_from(Submission)
        .join(Job, Job.id == Submission.job_id)
        .where(
            Submission.phase_id == phase_id,
            or_(Submission.team_id == team_id, Submission.by == account_id),
            ~Submission.carried,
            Job.state.not_in(("faulted", "cancelled")),
        )
    )
    return session.scalar(query) or 0


def choice_open(phase: Phase) -> bool:
    """Whether teams still say which run counts: neither late runs nor what was revealed may help them."""
    return phase.counts == "chosen" and phase_state(phase) == "open" and not phase.revealed


def choose(session: Session, account: Account, submission: Submission) -> None:
    """The team says which of its runs counts; until the phase ends it may change its mind."""
    phase = submission.phase
    if session.get(Membership, (submission.team_id, account.id)) is None:
        raise not_found()
    if phase.counts != "chosen" or submission.disqualified:
        raise Refused(409, "refused.no_choice")
    if not choice_open(phase):
        raise Refused(409, "refused.phase_over")
    same = (Submission.phase_id == phase.id, Submission.team_id == submission.team_id)
    for other in session.scalars(select(Submission).where(*same)):
        other.chosen = other.id == submission.id
    phase.revision += 1
    session.commit()


# ------------------------------------------------------------------ admission


def admissions_of(session: Session, phase: Phase) -> list[Admission]:
    query = select(Admission).where(Admission.phase_id == phase.id)
    return list(session.scalars(query.order_by(Admission.rank, Admission.created_at, Admission.team_id)))


def invite_team(session: Session, actor: Account, phase: Phase, name: str) -> None:
    """Admit a team by name, beside those admitted by their place."""
    team = session.scalar(select(Team).where(Team.name == name.strip()))
    if team is None or team.closed_at is not None:
        raise Refused(404, "refused.no_team", name=name.strip()[:60])
    if session.get(Admission, (phase.id, team.id)) is None:
        session.add(Admission(phase_id=phase.id, team_id=team.id, how="invited"))
        _tell(session, phase, team.id)
        record(session, actor, "admit", f"{phase.contest.slug}/{phase.name}: {team.name}")
    session.commit()


def withdraw_team(session: Session, actor: Account, phase: Phase, team_id: int) -> None:
    """Take an admission back; runs that were played stay (disqualify them where they must not count)."""
    found = session.get(Admission, (phase.id, team_id))
    if found is None:
        raise not_found()
    record(session, actor, "withdraw", f"{phase.contest.slug}/{phase.name}: {found.team.name}")
    session.delete(found)
    session.commit()


def _tell(session: Session, phase: Phase, team_id: int) -> None:
    link = f"/contests/{phase.contest.slug}/{phase.name}"
    words = {**letters.named(phase.contest), "phase": phase.name}
    letters.write(session, letters.members(session, [team_id]), "letter.admitted", link, **words)


def source_of(phase: Phase) -> Phase | None:
    """The phase whose first teams are admitted to this one."""
    terms = terms_of(phase)
    if terms.admits != "first":
        return None
    return next((one for one in phase.contest.phases if one.name == terms.of), None)


def is_settled(session: Session, phase: Phase) -> bool:
    """Whether a phase is over and every run of it has its result."""
    if not is_over(phase):
        return False
    jobs = select(Submission.id).join(Job, Job.id == Submission.job_id).where(Submission.phase_id == phase.id)
    if session.scalar(jobs.where(Job.state.not_in(ENDED)).limit(1)) is not None:
        return False
    result = select(Result.id).where(Result.submission_id == Submission.id, Result.job_id == Submission.job_id)
    open_still = jobs.where(Job.state.in_(("finished", "failed")), ~result.exists()).limit(1)
    return session.scalar(open_still) is None


def unadmitted(session: Session) -> list[Phase]:
    """Phases that admit the first of a phase which has ended, and have not done so."""
    waiting = (Phase.admitted_at.is_(None), not_waiting("admit", Phase.id))
    found = session.scalars(select(Phase).where(*waiting).order_by(Phase.id))
    ready = []
    for phase in found:
        source = source_of(phase)
        if source is not None and is_settled(session, source):
            ready.append(phase)
    return ready


def admit_first(session: Session, phase: Phase) -> list[str]:
    """Admit the first of the earlier phase, once; what changes there afterwards changes nothing here by itself."""
    source = source_of(phase)
    if source is None:
        return []
    session.execute(select(Phase.id).where(Phase.id == phase.id).with_for_update())
    session.refresh(phase)
    if phase.admitted_at is not None:
        return []
    rows = final_rows(session, source)[: terms_of(phase).first or 0]
    for place, row in enumerate(rows, 1):
        if session.get(Admission, (phase.id, row.team_id)) is None:
            session.add(Admission(phase_id=phase.id, team_id=row.team_id, how="first", rank=place, score=row.score))
            _tell(session, phase, row.team_id)
    phase.admitted_at = time.time()
    names = ", ".join(row.team for row in rows) or "nobody"
    record(session, phase.contest.owner, "admit", f"{phase.contest.slug}/{phase.name}: {names}")
    session.commit()
    return [row.team for row in rows]


def uncarried(session: Session) -> list[Admission]:
    """Admissions by place to an open phase whose entry is still to be carried over."""
    query = (
        select(Admission, Phase)
        .join(Phase, Phase.id == Admission.phase_id)
        .where(Admission.how == "first", not_waiting("carry", Admission.team_id))
        .order_by(Admission.phase_id, Admission.rank)
    )
    return [
        one
        for one, phase in session.execute(query)
        if terms_of(phase).carries == "entry" and phase_state(phase) == "open"
    ]


def carried_from(session: Session, phase: Phase, team_id: int) -> Submission | None:
    """The run of the earlier phase that counted for a team."""
    source = source_of(phase)
    rows = final_rows(session, source) if source is not None else []
    return next((session.get(Submission, row.submission_id) for row in rows if row.team_id == team_id), None)
