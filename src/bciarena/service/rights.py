"""What each role may do: one table. Every route names its right and is closed to roles without it before anything
else is done; the page /roles shows the table, and a test walks every route as every role against it.
"""

from __future__ import annotations

from typing import NamedTuple

from bciarena.service.models import Account
from bciarena.service.refusals import Refused

EVERYBODY = ("visitor", "contestant", "organiser", "operator")
NO, OWN, OPEN, ALL = "no", "own", "open", "all"
"""``own``: what belongs to one's own teams or contests; ``open``: runs of the reference entries, where data and board
are public."""


class Right(NamedTuple):
    """Who has it and how far; which scope a token needs for it; whether its use is recorded in the audit log."""

    visitor: str
    contestant: str
    organiser: str
    operator: str
    scope: str = "submit"
    audited: bool = False


RIGHTS = {
    "look": Right(ALL, ALL, ALL, ALL),
    "account": Right(NO, OWN, OWN, OWN),
    "found": Right(NO, ALL, ALL, ALL),
    "team": Right(NO, OWN, OWN, ALL),
    "invite": Right(NO, OWN, OWN, OWN),
    "captain": Right(NO, OWN, OWN, ALL, audited=True),
    "enter": Right(NO, OWN, OWN, OWN),
    "run": Right(OPEN, OWN, OWN, ALL),
    "cancel": Right(NO, OWN, OWN, ALL, audited=True),
    "organise": Right(NO, NO, ALL, ALL, scope="organise", audited=True),
    "manage": Right(NO, NO, OWN, ALL, scope="organise", audited=True),
    "operate": Right(NO, NO, NO, ALL, scope="organise", audited=True),
}


def role_of(account: Account | None) -> str:
    return "visitor" if account is None else account.role


def require(account: Account | None, right: str) -> None:
    """Refuse an account whose role lacks a right altogether; whether something is its own, the action itself checks."""
    if getattr(RIGHTS[right], role_of(account)) != NO:
        return
    if account is None:
        raise Refused(401, "refused.sign_in")
    raise Refused(403, "refused.role_needed")
