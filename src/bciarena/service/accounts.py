"""Accounts, roles and API tokens."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable

from sqlalchemy import delete, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bciarena.service import limits, mail
from bciarena.service.audit import record
from bciarena.service.models import ROLES, SCOPES, Account, Token, Visit
from bciarena.service.names import folded, misleads, plain, skeleton
from bciarena.service.refusals import Refused, not_found
from bciarena.service.security import (
    COOKIE_AGE_S,
    PASSWORD_LENGTH,
    Cookie,
    Signer,
    check_password,
    hash_password,
    new_cookie,
    new_token,
    token_digest,
)
from bciarena.service.settings import Settings

NAME = re.compile(r"[^\W_](?:[\w.-]{0,38}[^\W_])?")
TOKENS_EACH = 20
TOKEN_DAYS = (1, 365)
DAY_S = 86400
RESET_S = 3600


def sign_up(session: Session, name: str, password: str, role: str = "contestant") -> Account:
    """Make an account; no two names look alike."""
    name = plain(name)
    if not NAME.fullmatch(name):
        raise Refused(422, "refused.name")
    if misleads(name):
        raise Refused(422, "refused.lookalike")
    _check_length(password)
    alike = or_(Account.folded == folded(name), Account.looks == skeleton(name))
    if session.scalar(select(Account.id).where(alike)):
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
    """The account with this name and password; failures are counted by name and by address."""
    key = folded(name)
    limits.spend(session, limits.LOGIN_ADDRESS, address)
    limits.spend(session, limits.LOGIN_NAME, key)
    limits.spend(session, limits.LOGIN_BOTH, f"{address} {key}")
    account = account_named(session, name)
    session.commit()  # hashing takes a while: hold no lock
    fits = check_password(account.password if account else None, password)
    if account is None or not fits or account.disabled:
        raise Refused(401, "refused.login")
    limits.forgive(session, limits.LOGIN_BOTH, f"{address} {key}")
    return account


def _check_length(password: str) -> None:
    least, most = PASSWORD_LENGTH
    if not least <= len(password) <= most:
        raise Refused(422, "refused.password", least=least, most=most)


def begin_visit(session: Session, account: Account) -> Cookie:
    """Sign a browser in: the cookie it gets."""
    cookie, now = new_cookie(account.id), time.time()
    session.execute(delete(Visit).where(Visit.expires_at < now))
    session.add(Visit(digest=cookie.digest, account_id=account.id, expires_at=now + COOKIE_AGE_S))
    session.commit()
    return cookie


def end_visit(session: Session, cookie: Cookie) -> None:
    """Sign a browser out, and with it whoever has a copy of its cookie."""
    session.execute(delete(Visit).where(Visit.digest == cookie.digest))
    session.commit()


def visitor_of(session: Session, cookie: Cookie | None) -> Account | None:
    """The account a cookie belongs to, if it is still valid."""
    if cookie is None or not cookie.account:
        return None
    held = (Visit.digest == cookie.digest) & (Visit.expires_at > time.time())
    account = session.scalar(select(Account).join(Visit, Visit.account_id == Account.id).where(held))
    return None if account is None or account.disabled or account.id != cookie.account else account


def change_password(session: Session, account: Account, old: str, new: str) -> None:
    """Change the password; signs the account out everywhere and ends its tokens."""
    limits.spend(session, limits.LOGIN_NAME, account.folded)
    session.commit()
    if not check_password(account.password, old):
        raise Refused(403, "refused.old_password")
    _set_password(session, account, new)
    session.commit()


def reset_password(session: Session, actor: Account | None, name: str, new: str | None = None) -> str:
    """Give an account a new password, by default a random one, and return it."""
    account = account_named(session, name)
    if account is None:
        raise not_found()
    new = secrets.token_urlsafe(12) if new is None else new
    _set_password(session, account, new)
    record(session, actor, "password", account.name)
    session.commit()
    return new


def set_email(session: Session, account: Account, email: str | None) -> None:
    """Give an account an address that was confirmed, or take it away."""
    account.email = email
    session.commit()


def mail_reset(session: Session, settings: Settings, signer: Signer, name: str, say: Callable[..., str]) -> None:
    """Mail a link for a new password to an account's confirmed address; nothing happens where there is none."""
    account = account_named(session, name)
    if account is None or account.disabled or not account.email:
        return
    limits.spend(session, limits.MAIL, f"account {account.id}")
    code = signer.sealed("reset", [account.id, token_digest(account.password)])
    text = say("mail.reset", name=account.name, link=f"{settings.url}/reset/{code}")
    mail.send(settings, account.email, say("mail.reset_subject"), text)


def reset_account(session: Session, signer: Signer, code: str) -> Account:
    """The account of a link for a new password; it is good for an hour, and for one change."""
    told = signer.opened("reset", code, RESET_S)
    account = session.get(Account, told[0]) if isinstance(told, list) and len(told) == 2 else None
    if account is None or account.disabled or token_digest(account.password) != told[1]:
        raise Refused(404, "refused.link")
    return account


def _set_password(session: Session, account: Account, new: str) -> None:
    _check_length(new)
    account.password = hash_password(new)
    _end_all(session, account)


def _end_all(session: Session, account: Account) -> None:
    session.execute(delete(Visit).where(Visit.account_id == account.id))
    session.execute(delete(Token).where(Token.account_id == account.id))


def make_token(session: Session, account: Account, name: str, scope: str = "submit", days: int = 90) -> str:
    """A new API token, shown once."""
    if scope not in SCOPES or not TOKEN_DAYS[0] <= days <= TOKEN_DAYS[1]:
        raise Refused(422, "refused.field", name="scope" if scope not in SCOPES else "days")
    name, now = name.strip()[:60] or "token", time.time()
    session.execute(delete(Token).where(Token.account_id == account.id, Token.expires_at < now))
    count = session.scalar(select(func.count()).select_from(Token).where(Token.account_id == account.id)) or 0
    if count >= TOKENS_EACH:
        raise Refused(409, "refused.tokens", most=TOKENS_EACH)
    text, digest = new_token()
    until = now + days * DAY_S
    session.add(Token(account_id=account.id, name=name, digest=digest, scope=scope, expires_at=until))
    session.commit()
    return text


def tokens_of(session: Session, account: Account) -> list[Token]:
    return list(session.scalars(select(Token).where(Token.account_id == account.id).order_by(Token.id)))


def revoke_token(session: Session, account: Account, token_id: int) -> None:
    done = session.execute(delete(Token).where(Token.id == token_id, Token.account_id == account.id))
    session.commit()
    if not done.rowcount:  # type: ignore[attr-defined]
        raise not_found()


def token_of(session: Session, text: str) -> Token | None:
    """The token with this text, if it is still valid."""
    token = session.scalar(select(Token).where(Token.digest == token_digest(text), Token.expires_at > time.time()))
    return None if token is None or token.account.disabled else token


def set_role(session: Session, operator: Account, name: str, role: str, disabled: bool) -> None:
    """Change what an account may do; operators cannot lock themselves out. Signs it out and ends its tokens."""
    account = account_named(session, name)
    if account is None:
        raise not_found()
    if role not in ROLES:
        raise Refused(422, "refused.role")
    if account.id == operator.id:
        raise Refused(409, "refused.own_role")
    account.role, account.disabled = role, disabled
    _end_all(session, account)
    record(session, operator, "role", f"{account.name}: {role}{' (disabled)' if disabled else ''}")
    session.commit()


def first_operator(session: Session) -> tuple[str, str] | None:
    """On a site without an operator make one, and return its name and password, to be shown once."""
    if session.scalar(select(Account.id).where(Account.role == "operator").limit(1)) is not None:
        return None
    password = secrets.token_urlsafe(12)
    name = "admin" if account_named(session, "admin") is None else f"admin-{secrets.token_hex(3)}"
    sign_up(session, name, password, role="operator")
    record(session, None, "first_operator", name)
    session.commit()
    return name, password
