"""Passwords, cookies, form tokens and API tokens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import lru_cache
from typing import Any, NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from itsdangerous import BadSignature, URLSafeTimedSerializer

COOKIE = "arena"
COOKIE_AGE_S = 14 * 24 * 3600
TOKEN_PREFIX = "arena_"
PASSWORD_LENGTH = (10, 200)

_hasher = PasswordHasher()


def hash_password(password: str) -> str:
    """An argon2id hash with its own salt and parameters."""
    return _hasher.hash(password)


@lru_cache
def _nobody() -> str:
    return _hasher.hash(secrets.token_hex(16))


def check_password(stored: str | None, password: str) -> bool:
    """Whether the password fits; costs the same time when there is no such account."""
    try:
        return _hasher.verify(stored or _nobody(), password) and stored is not None
    except (Argon2Error, InvalidHashError):
        return False


class Visit(NamedTuple):
    """What the signed cookie says. ``account`` is 0 for a visitor."""

    account: int
    epoch: int  # of the account when it signed in: changing the password ends older visits
    nonce: str  # form tokens hang on it


def new_visit(account: int = 0, epoch: int = 0) -> Visit:
    return Visit(account, epoch, secrets.token_urlsafe(12))


class Signer:
    """Signs cookies and form tokens with the site's key."""

    def __init__(self, secret: str) -> None:
        self._key = secret.encode()
        self._cookies = URLSafeTimedSerializer(secret, salt="visit")

    def cookie(self, visit: Visit) -> str:
        return str(self._cookies.dumps(list(visit)))

    def visit(self, cookie: str | None) -> Visit | None:
        """The visit a cookie stands for; None when there is none or it is forged or too old."""
        if not cookie:
            return None
        try:
            value: Any = self._cookies.loads(cookie, max_age=COOKIE_AGE_S)
            account, epoch, nonce = value
            return Visit(int(account), int(epoch), str(nonce))
        except (BadSignature, ValueError, TypeError):
            return None

    def form_token(self, visit: Visit) -> str:
        text = f"form:{visit.account}:{visit.epoch}:{visit.nonce}"
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def form_token_fits(self, visit: Visit, token: str) -> bool:
        return hmac.compare_digest(self.form_token(visit).encode(), token.encode())


def new_token() -> tuple[str, str]:
    """A fresh API token or invitation code, and the digest that is kept of it."""
    text = TOKEN_PREFIX + secrets.token_urlsafe(24)
    return text, token_digest(text)


def token_digest(text: str) -> str:
    """Tokens are long and random, so a plain digest is enough to keep them."""
    return hashlib.sha256(text.encode()).hexdigest()
