"""The inbox: what the site has to tell somebody, in the language they read it in."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from bciarena.service.models import Account, Contest, Letter, Membership, Registration, Submission
from bciarena.service.texts import LANGUAGES, say

SHOWN = 200


def write(session: Session, people: Iterable[int], key: str, link: str, **words: Any) -> None:
    """Put a letter into inboxes, in the transaction of what it tells about."""
    for account in sorted(set(people)):
        session.add(Letter(account_id=account, key=key, words=words, link=link))


def members(session: Session, teams: Iterable[int]) -> set[int]:
    return set(session.scalars(select(Membership.account_id).where(Membership.team_id.in_(list(teams)))))


def following(session: Session, contest: Contest) -> set[int]:
    """Everybody in a team that has submitted to a contest or asked to take part in it."""
    phases = [phase.id for phase in contest.phases]
    teams = set(session.scalars(select(Submission.team_id).where(Submission.phase_id.in_(phases)).distinct()))
    teams |= set(session.scalars(select(Registration.team_id).where(Registration.contest_id == contest.id)))
    return members(session, teams)


def organisers(contest: Contest) -> set[int]:
    return {contest.owner_id, *(one.account_id for one in contest.organisers)}


def inbox(session: Session, account: Account) -> list[Letter]:
    query = select(Letter).where(Letter.account_id == account.id).order_by(Letter.id.desc())
    return list(session.scalars(query.limit(SHOWN)))


def unread(session: Session, account: Account) -> int:
    held = (Letter.account_id == account.id) & Letter.read_at.is_(None)
    return session.scalar(select(func.count()).select_from(Letter).where(held)) or 0


def read_all(session: Session, account: Account) -> None:
    held = (Letter.account_id == account.id) & Letter.read_at.is_(None)
    session.execute(update(Letter).where(held).values(read_at=time.time()))
    session.commit()


def text_of(letter: Letter, lang: str) -> str:
    """A letter in a language; one whose text is no longer known by its key."""
    words = dict(letter.words)
    words["contest"] = words.get(f"contest_{lang}") or words.get("contest", "")
    phase = f"phase_name.{words.get('phase')}"
    words["phase"] = say(lang, phase) if phase in LANGUAGES[lang] else words.get("phase", "")
    return say(lang, letter.key, **words) if letter.key in LANGUAGES[lang] else letter.key


def named(contest: Contest) -> dict[str, str]:
    """A contest among the words of a letter, in both languages."""
    return {"contest": contest.title, "contest_zh": contest.title_zh}
