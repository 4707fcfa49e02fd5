"""Files people fetch from a contest's page: training sets, data cards, lists of digests."""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.jobs.storage import Storage
from bciarena.service.audit import record
from bciarena.service.contests import note
from bciarena.service.models import Account, Contest, Download
from bciarena.service.refusals import Refused, not_found

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MOST = 200
"""Files of one contest."""


def of(session: Session, contest: Contest) -> list[Download]:
    query = select(Download).where(Download.contest_id == contest.id)
    return list(session.scalars(query.order_by(Download.name)))


def add(
    session: Session, storage: Storage, actor: Account, contest: Contest, path: Path, name: str, about: str, login: bool
) -> Download:
    """Offer a file under a name; one of the same name is replaced, and the history keeps its digest."""
    check(session, contest, name)
    session.commit()  # storing takes a while: hold no lock
    stored = storage.put(path)
    same = (Download.contest_id == contest.id, Download.name == name)
    found = session.scalar(select(Download).where(*same))
    before = "" if found is None else found.stored
    if found is None:
        found = Download(contest_id=contest.id, name=name)
        session.add(found)
    found.about, found.stored, found.size = about.strip()[:300], stored, path.stat().st_size
    found.login, found.by = login, actor.id
    note(session, actor, contest, f"download {name}", before, stored)
    record(session, actor, "download", f"{contest.slug}: {name} {stored[:17]}")
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        raise Refused(409, "refused.file_name") from None
    return found


def check(session: Session, contest: Contest, name: str) -> None:
    """Refuse a file that cannot be offered."""
    if not NAME.fullmatch(name):
        raise Refused(422, "refused.file_name")
    count = session.scalar(select(func.count()).select_from(Download).where(Download.contest_id == contest.id)) or 0
    if count >= MOST:
        raise Refused(409, "refused.downloads", most=MOST)


def remove(session: Session, actor: Account, contest: Contest, name: str) -> None:
    found = one(session, contest, name)
    note(session, actor, contest, f"download {name}", found.stored, "")
    record(session, actor, "download", f"{contest.slug}: {name} removed")
    session.delete(found)
    session.commit()


def one(session: Session, contest: Contest, name: str) -> Download:
    known = NAME.fullmatch(name)
    same = (Download.contest_id == contest.id, Download.name == name)
    found = session.scalar(select(Download).where(*same)) if known else None
    if found is None:
        raise not_found()
    return found


def fetched(session: Session, contest: Contest, name: str, account: Account | None) -> Download:
    """A file for somebody who may have it."""
    found = one(session, contest, name)
    if found.login and account is None:
        raise Refused(401, "refused.sign_in")
    return found


def sums(found: list[Download]) -> str:
    """The digests in the form of sha256sum."""
    return "".join(f"{item.digest}  {item.name}\n" for item in found)
