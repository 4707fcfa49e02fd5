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


class Cookie(NamedTuple):
    """What the signed cookie says. ``account`` is 0 for a visitor; otherwise there must be a row of `Visit` for it."""

    account: int
    nonce: str  # form tokens depend on it

    @property
    def digest(self) -> str:
        """What is kept of it in the database."""
        return token_digest(self.nonce)


def new_cookie(account: int = 0) -> Cookie:
    return Cookie(account, secrets.token_urlsafe(24))


class Signer:
    """Signs cookies and form tokens with the site's key."""

    def __init__(self, secret: str) -> None:
        self._key = secret.encode()
        self._cookies = URLSafeTimedSerializer(secret, salt="visit")

    def signed(self, cookie: Cookie) -> str:
        return str(self._cookies.dumps(list(cookie)))

    def read(self, text: str | None) -> Cookie | None:
        """What a cookie says; None when there is none or it is forged or too old."""
        if not text:
            return None
        try:
            value: Any = self._cookies.loads(text, max_age=COOKIE_AGE_S)
            account, nonce = value
            return Cookie(int(account), str(nonce))
        except (BadSignature, ValueError, TypeError):
            return None

    def sealed(self, purpose: str, value: Any) -> str:
        """A code for a link that only we can make; ``purpose`` keeps one kind from serving as another."""
        return str(URLSafeTimedSerializer(self._key, salt=f"link {purpose}").dumps(value))

    def opened(self, purpose: str, text: str, age_s: int) -> Any:
        """What a code says; None when it is forged or too old."""
        try:
            return URLSafeTimedSerializer(self._key, salt=f"link {purpose}").loads(text, max_age=age_s)
        except (BadSignature, ValueError, TypeError):
            return None

    def form_token(self, cookie: Cookie) -> str:
        text = f"form:{cookie.account}:{cookie.nonce}"
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def form_token_fits(self, cookie: Cookie, token: str) -> bool:
        return hmac.compare_digest(self.form_token(cookie).encode(), token.encode())


def new_token() -> tuple[str, str]:
    """A fresh API token or invitation code, and the digest that is kept of it."""
    text = TOKEN_PREFIX + secrets.token_urlsafe(24)
    return text, token_digest(text)


def token_digest(text: str) -> str:
    """Tokens are long and random, so a plain digest suffices."""
    return hashlib.sha256(text.encode()).hexdigest()
