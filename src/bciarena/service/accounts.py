"""Accounts, roles and API tokens."""

from __future__ import annotations

import re
import secrets

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.service import limits
from bciarena.service.models import ROLES, Account, Deed, Token, folded
from bciarena.service.refusals import Refused, not_found
from bciarena.service.security import PASSWORD_LENGTH, check_password, hash_password, new_token, token_digest

NAME = re.compile(r"[^\W_](?:[\w.-]{0,38}[^\W_])?")
TOKENS_EACH = 20


def sign_up(session: Session, name: str, password: str, role: str = "contestant") -> Account:
    """Make an account; names are unique whatever their case."""
    name = name.strip()
    if not NAME.fullmatch(name):
        raise Refused(422, "refused.name")
    least, most = PASSWORD_LENGTH
    if not least <= len(password) <= most:
        raise Refused(422, "refused.password", least=least, most=most)
    if account_named(session, name):
        raise Refused(409, "refused.name_taken")
    account = Account(name=name, folded=folded(name), password=hash_password(password), role=role)
    session.add(account)
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        raise Refused(409, "refused.name_taken") from None
    return account


def account_named(session: Session, name: str) -> Account | None:
    return session.scalar(select(Account).where(Account.folded == folded(name)))


def sign_in(session: Session, name: str, password: str, address: str) -> Account:
    """The account of a right name and password; wrong ones are counted by name and by address."""
    key = folded(name)
    limits.spend(session, limits.LOGIN_ADDRESS, address)
    limits.spend(session, limits.LOGIN_NAME, key)
    limits.spend(session, limits.LOGIN_BOTH, f"{address} {key}")
    account = account_named(session, name)
    session.commit()  # hashing takes a while: hold no lock meanwhile
    fits = check_password(account.password if account else None, password)
    if account is None or not fits or account.disabled:
        raise Refused(401, "refused.login")
    limits.forgive(session, limits.LOGIN_BOTH, f"{address} {key}")
    return account


def change_password(session: Session, account: Account, old: str, new: str) -> None:
    """Ends every other visit of the account."""
    limits.spend(session, limits.LOGIN_NAME, account.folded)
    session.commit()
    if not check_password(account.password, old):
        raise Refused(403, "refused.old_password")
    least, most = PASSWORD_LENGTH
    if not least <= len(new) <= most:
        raise Refused(422, "refused.password", least=least, most=most)
    account.password = hash_password(new)
    account.epoch += 1
    session.commit()


def make_token(session: Session, account: Account, name: str) -> str:
    """A new API token, shown once."""
    name = name.strip()[:60] or "token"
    count = session.scalar(select(func.count()).select_from(Token).where(Token.account_id == account.id)) or 0
    if count >= TOKENS_EACH:
        raise Refused(409, "refused.tokens", most=TOKENS_EACH)
    text, digest = new_token()
    session.add(Token(account_id=account.id, name=name, digest=digest))
    session.commit()
    return text


def tokens_of(session: Session, account: Account) -> list[Token]:
    return list(session.scalars(select(Token).where(Token.account_id == account.id).order_by(Token.id)))


def revoke_token(session: Session, account: Account, token_id: int) -> None:
    done = session.execute(delete(Token).where(Token.id == token_id, Token.account_id == account.id))
    session.commit()
    if not done.rowcount:  # type: ignore[attr-defined]
        raise not_found()


def account_of_token(session: Session, text: str) -> Account | None:
    token = session.scalar(select(Token).where(Token.digest == token_digest(text)))
    return None if token is None or token.account.disabled else token.account


def set_role(session: Session, operator: Account, name: str, role: str, disabled: bool) -> None:
    """Change what an account may do; an operator cannot lock out himself."""
    account = account_named(session, name)
    if account is None:
        raise not_found()
    if role not in ROLES:
        raise Refused(422, "refused.role")
    if account.id == operator.id:
        raise Refused(409, "refused.own_role")
    account.role, account.disabled = role, disabled
    account.epoch += 1
    record(session, operator, "role", f"{account.name}: {role}{' (disabled)' if disabled else ''}")
    session.commit()


def first_operator(session: Session) -> tuple[str, str] | None:
    """On a site without operator: make one; its name and password, to be shown once."""
    if session.scalar(select(Account.id).where(Account.role == "operator").limit(1)) is not None:
        return None
    password = secrets.token_urlsafe(12)
    name = "admin" if account_named(session, "admin") is None else f"admin-{secrets.token_hex(3)}"
    sign_up(session, name, password, role="operator")
    return name, password


def record(session: Session, account: Account, what: str, about: str) -> None:
    session.add(Deed(account_id=account.id, what=what, about=about[:300]))
