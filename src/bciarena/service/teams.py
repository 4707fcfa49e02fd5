"""Teams (分组): their members, and how to join one."""

from __future__ import annotations

import time

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.sql.elements import ColumnElement

from bciarena.jobs.queue import Queue
from bciarena.service.audit import record
from bciarena.service.models import (
    Account,
    Admission,
    Entry,
    Invitation,
    Membership,
    Phase,
    Registration,
    Submission,
    Team,
    Version,
)
from bciarena.service.names import folded, misleads, plain, skeleton
from bciarena.service.refusals import Refused, not_found
from bciarena.service.security import new_token, token_digest

INVITATION_S = 7 * 24 * 3600
TEAMS_EACH = 10
MEMBERS_EACH = 30
INVITATIONS_EACH = 10  # open at a time


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= 60 or not any(letter.isalnum() for letter in name):
        raise Refused(422, "refused.team_name")
    if misleads(name):
        raise Refused(422, "refused.lookalike")


def _alike(name: str) -> ColumnElement[bool]:
    return or_(Team.folded == folded(name), Team.looks == skeleton(name))


def create_team(session: Session, account: Account, name: str, house: bool = False) -> Team:
    """A new team with its founder as captain."""
    name = plain(name)
    _check_name(name)
    if not house:
        _check_room(session, account)
    if session.scalar(select(Team.id).where(_alike(name))):
        raise Refused(409, "refused.team_taken")
    team = Team(name=name, folded=folded(name), house=house, members=[Membership(account_id=account.id, captain=True)])
    session.add(team)
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        raise Refused(409, "refused.team_taken") from None
    return team


def teams_of(session: Session, account: Account) -> list[Team]:
    mine = select(Membership.team_id).where(Membership.account_id == account.id)
    return list(session.scalars(select(Team).where(Team.id.in_(mine)).order_by(Team.name)))


def team_for(session: Session, account: Account | None, team_id: int) -> Team:
    """The team, if the account is in it or is an operator; otherwise there is no such team."""
    team = session.get(Team, team_id)
    if team is None or account is None:
        raise not_found()
    if account.role != "operator" and session.get(Membership, (team_id, account.id)) is None:
        raise not_found()
    return team


def _check_room(session: Session, account: Account, team: Team | None = None) -> None:
    """Refuse one team or one member too many; the rows of account and team serve as locks."""
    session.execute(select(Account.id).where(Account.id == account.id).with_for_update())
    if _count(session, Membership.account_id == account.id) >= TEAMS_EACH:
        raise Refused(409, "refused.teams", most=TEAMS_EACH)
    if team is None:
        return
    session.execute(select(Team.id).where(Team.id == team.id).with_for_update())
    if _count(session, Membership.team_id == team.id) >= MEMBERS_EACH:
        raise Refused(409, "refused.members", most=MEMBERS_EACH)


def _count(session: Session, where: ColumnElement[bool]) -> int:
    return session.scalar(select(func.count()).select_from(Membership).where(where)) or 0


def invite(session: Session, account: Account, team: Team) -> str:
    """A code that lets one person join within a week; any member may invite."""
    if session.get(Membership, (team.id, account.id)) is None:
        raise Refused(403, "refused.not_member")
    session.execute(select(Team.id).where(Team.id == team.id).with_for_update())
    waiting = len(invitations_of(session, team))
    if waiting >= INVITATIONS_EACH:
        raise Refused(409, "refused.invitations", most=INVITATIONS_EACH)
    if _count(session, Membership.team_id == team.id) >= MEMBERS_EACH:
        raise Refused(409, "refused.members", most=MEMBERS_EACH)
    code, digest = new_token()
    session.add(Invitation(team_id=team.id, digest=digest, by=account.id, expires_at=time.time() + INVITATION_S))
    session.commit()
    return code


def invitations_of(session: Session, team: Team) -> list[Invitation]:
    """The team's invitations that are unused and still valid."""
    held = Invitation.used_by.is_(None) & (Invitation.expires_at > time.time())
    return list(session.scalars(select(Invitation).where(Invitation.team_id == team.id, held).order_by(Invitation.id)))


def revoke_invitation(session: Session, actor: Account, team: Team, invitation_id: int) -> None:
    """Withdraw an open invitation; only whoever made it or a captain may."""
    found = session.get(Invitation, invitation_id)
    own = session.get(Membership, (team.id, actor.id))
    if found is None or found.team_id != team.id or found.used_by is not None:
        raise not_found()
    if own is None or (found.by != actor.id and not own.captain):
        raise Refused(403, "refused.captain")
    session.execute(delete(Invitation).where(Invitation.id == invitation_id, Invitation.used_by.is_(None)))
    session.commit()


def invitation(session: Session, code: str) -> Invitation:
    """The open invitation with this code."""
    found = session.scalar(select(Invitation).where(Invitation.digest == token_digest(code)))
    if found is None or found.used_by is not None or found.expires_at < time.time():
        raise Refused(404, "refused.invitation")
    return found


def join(session: Session, account: Account, code: str) -> Team:
    """Use an invitation. Of two who use it at the same time one gets in."""
    found = invitation(session, code)
    if session.get(Membership, (found.team_id, account.id)) is not None:
        raise Refused(409, "refused.member_already")
    _check_room(session, account, found.team)
    open_still = (Invitation.id == found.id) & Invitation.used_by.is_(None)
    if not session.execute(update(Invitation).where(open_still).values(used_by=account.id)).rowcount:  # type: ignore[attr-defined]
        session.rollback()
        raise Refused(404, "refused.invitation")
    session.add(Membership(team_id=found.team_id, account_id=account.id))
    team = found.team
    session.commit()
    return team


def leave(session: Session, actor: Account, team: Team, account_id: int) -> None:
    """Leave a team, or as its captain remove a member. The last captain cannot leave while others remain."""
    own = session.get(Membership, (team.id, actor.id))
    gone = session.get(Membership, (team.id, account_id))
    if gone is None:
        raise not_found()
    if actor.role != "operator" and account_id != actor.id and (own is None or not own.captain):
        raise Refused(403, "refused.captain")
    others = [member for member in team.members if member.account_id != account_id]
    if gone.captain and others and not any(member.captain for member in others):
        raise Refused(409, "refused.last_captain")
    session.execute(delete(Membership).where(Membership.team_id == team.id, Membership.account_id == account_id))
    if account_id != actor.id and (own is None or not own.captain):
        record(session, actor, "remove_member", f"{gone.account.name} from {team.name}")
    session.commit()


def _captain(session: Session, actor: Account, team: Team) -> bool:
    """Whether the actor is a captain; refuses everybody else but operators."""
    own = session.get(Membership, (team.id, actor.id))
    if actor.role != "operator" and (own is None or not own.captain):
        raise Refused(403, "refused.captain")
    return own is not None and own.captain


def rename(session: Session, actor: Account, team: Team, name: str) -> None:
    """Give a team another name, on its past results, too."""
    name = plain(name)
    captain = _captain(session, actor, team)
    _check_name(name)
    if session.scalar(select(Team.id).where(_alike(name), Team.id != team.id)):
        raise Refused(409, "refused.team_taken")
    before, team.name, team.folded, team.looks = team.name, name, folded(name), skeleton(name)
    phases = select(Submission.phase_id).where(Submission.team_id == team.id).distinct()
    session.execute(update(Phase).where(Phase.id.in_(phases)).values(revision=Phase.revision + 1))
    if not captain:
        record(session, actor, "rename_team", f"{before} is now {name}")
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        raise Refused(409, "refused.team_taken") from None


def dissolve(session: Session, queue: Queue, actor: Account, team: Team) -> bool:
    """End a team. One that never submitted is removed with its entries. Otherwise runs that have not ended are
    cancelled, everybody leaves, and its results stay on the boards under its name. Returns whether it is gone.
    """
    captain = _captain(session, actor, team)
    jobs = list(session.scalars(select(Submission.job_id).where(Submission.team_id == team.id)))
    for kind in (Invitation, Membership, Registration, Admission):
        if not jobs or kind in (Invitation, Membership):
            session.execute(delete(kind).where(kind.team_id == team.id))
    if not captain:
        record(session, actor, "dissolve_team", team.name)
    if jobs:
        team.closed_at = time.time()
        session.commit()
        for job in jobs:
            queue.cancel(job)
        return False
    entries = select(Entry.id).where(Entry.team_id == team.id)
    session.execute(delete(Version).where(Version.entry_id.in_(entries)))
    session.execute(delete(Entry).where(Entry.team_id == team.id))
    session.execute(delete(Team).where(Team.id == team.id))
    session.commit()
    return True


def make_captain(session: Session, actor: Account, team: Team, account_id: int) -> None:
    """A captain may name further captains; an operator may do so for a team that has lost its own."""
    own = session.get(Membership, (team.id, actor.id))
    member = session.get(Membership, (team.id, account_id))
    if member is None:
        raise not_found()
    if actor.role != "operator" and (own is None or not own.captain):
        raise Refused(403, "refused.captain")
    member.captain = True
    if own is None or not own.captain:
        record(session, actor, "name_captain", f"{member.account.name} of {team.name}")
    session.commit()
