"""Rate limits, counted in the database so that they hold across server processes."""

from __future__ import annotations

import time
from typing import NamedTuple

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.service.models import UseCount
from bciarena.service.refusals import Refused


class Limit(NamedTuple):
    """At most ``times`` in each span of ``span_s`` seconds."""

    name: str
    times: int
    span_s: int


LOGIN_BOTH = Limit("login", 10, 900)  # one name from one address
LOGIN_NAME = Limit("login-name", 200, 900)  # generous, so that nobody can easily lock somebody else out
LOGIN_ADDRESS = Limit("login-address", 60, 900)
SIGNUP = Limit("signup", 30, 3600)
UPLOAD = Limit("upload", 60, 3600)
JOIN = Limit("join", 30, 3600)
MAIL = Limit("mail", 5, 3600)  # to one account, and from one address


def spend(session: Session, limit: Limit, who: str, now_s: float | None = None) -> None:
    """Count one use by ``who``; refuses (429) when there were too many. Commits at once: refusals must count too."""
    now_s = time.time() if now_s is None else now_s
    span = int(now_s // limit.span_s)
    key = f"{limit.name}:{who}"[:120]
    here = (UseCount.key == key) & (UseCount.span == span)
    if not session.execute(update(UseCount).where(here).values(count=UseCount.count + 1)).rowcount:  # type: ignore[attr-defined]
        session.execute(delete(UseCount).where(UseCount.key == key, UseCount.span < span))  # not this one
        try:
            with session.begin_nested():
                session.add(UseCount(key=key, span=span, count=1))
        except IntegrityError:  # another process was first
            session.execute(update(UseCount).where(here).values(count=UseCount.count + 1))
    count = session.scalar(select(UseCount.count).where(here)) or 0
    session.commit()
    if count > limit.times:
        wait_s = int((span + 1) * limit.span_s - now_s) + 1
        raise Refused(429, "refused.too_often", again_s=wait_s, minutes=-(-wait_s // 60))


def forgive(session: Session, limit: Limit, who: str) -> None:
    """Forget the uses of ``who``: a right password ends the count of wrong ones."""
    session.execute(delete(UseCount).where(UseCount.key == f"{limit.name}:{who}"[:120]))
    session.commit()
