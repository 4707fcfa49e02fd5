"""The audit log: what organisers and operators did. It can only grow; triggers in the database ensure that."""

from __future__ import annotations

import csv
import datetime
import getpass
import io

from sqlalchemy import select
from sqlalchemy.orm import Session

from bciarena.plaintext import table_cell
from bciarena.service.models import Account, AuditLine

COLUMNS = ("id", "utc", "who", "what", "about")


def record(session: Session, actor: Account | None, what: str, about: str) -> None:
    """Add a line, in the transaction of the action itself. ``actor`` None: somebody at the machine."""
    who = actor.name if actor else f"{getpass.getuser()} at the machine"
    session.add(AuditLine(account_id=actor.id if actor else None, who=who, what=what, about=about[:300]))


def newest(session: Session, limit: int) -> list[AuditLine]:
    return list(session.scalars(select(AuditLine).order_by(AuditLine.id.desc()).limit(limit)))


def audit_csv(session: Session) -> str:
    """The whole log as a table, oldest first."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for line in session.scalars(select(AuditLine).order_by(AuditLine.id)):
        at = datetime.datetime.fromtimestamp(line.created_at, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        writer.writerow([line.id, at, *(table_cell(text) for text in (line.who, line.what, line.about))])
    return out.getvalue()
