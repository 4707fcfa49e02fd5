"""Teams that ask to take part in a contest, where its organisers want to decide."""

from __future__ import annotations

import time

from sqlalchemy import select
from sqlalchemy.orm import Session

from bciarena.service import letters
from bciarena.service.audit import record
from bciarena.service.models import Account, Contest, Membership, Registration, Team
from bciarena.service.phases import other_teams
from bciarena.service.refusals import Refused, not_found


def of(session: Session, contest: Contest) -> list[Registration]:
    query = select(Registration).where(Registration.contest_id == contest.id)
    return list(session.scalars(query.order_by(Registration.created_at, Registration.team_id)))


def ask(session: Session, account: Account, contest: Contest, team: Team) -> Registration:
    """Ask for a team of one's own; where anybody may take part it is admitted at once."""
    if session.get(Membership, (team.id, account.id)) is None:
        raise not_found()
    if team.closed_at is not None:
        raise Refused(409, "refused.team_closed")
    if contest.one_team and (others := other_teams(session, contest, team)):
        raise Refused(409, "refused.one_team", team=others[0])
    found = session.get(Registration, (contest.id, team.id))
    if found is not None:
        return found
    state = "admitted" if contest.joining == "open" else "waiting"
    found = Registration(contest_id=contest.id, team_id=team.id, by=account.id, state=state)
    session.add(found)
    if state == "waiting":
        link = f"/organise/{contest.slug}/edit"
        people = letters.organisers(contest)
        letters.write(session, people, "letter.registration", link, team=team.name, **letters.named(contest))
    session.commit()
    return found


def decide(session: Session, actor: Account, contest: Contest, team_id: int, admitted: bool) -> None:
    """Admit or refuse a team; it is told."""
    found = session.get(Registration, (contest.id, team_id))
    if found is None:
        raise not_found()
    found.state, found.decided_at = "admitted" if admitted else "refused", time.time()
    key = "letter.registered" if admitted else "letter.not_registered"
    words = {"team": found.team.name, **letters.named(contest)}
    letters.write(session, letters.members(session, [team_id]), key, f"/contests/{contest.slug}/join", **words)
    record(session, actor, "registration", f"{contest.slug}: {found.team.name} {found.state}")
    session.commit()
