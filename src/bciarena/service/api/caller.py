"""Who calls the API: a bearer token, never a cookie, so that no other site can make a browser call it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from sqlalchemy.orm import Session

from bciarena.service.accounts import token_of
from bciarena.service.asker import Asker
from bciarena.service.models import SCOPES, Account
from bciarena.service.page import LARGEST_ID, Id
from bciarena.service.refusals import Refused
from bciarena.service.rights import RIGHTS, require
from bciarena.service.site import Site
from bciarena.service.spec import Strict as Body

_bearer = HTTPBearer(auto_error=False, description="A token from the account page, or from POST /api/v1/token.")


class Trouble(BaseModel):
    """What an error looks like: a sentence for people, a key for programs."""

    error: str
    key: str


ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": Trouble} for code in (400, 401, 403, 404, 409, 413, 422, 429, 503)
}


class Caller(Asker):
    """A call: its session and account."""

    def __init__(self, request: Request, session: Session, account: Account | None) -> None:
        self.request, self.session, self.account = request, session, account
        self.site: Site = request.app.state.site


def allow(right: str) -> Any:
    """A call that needs a right, and a token whose scope includes it; reading needs the smallest scope."""
    return Depends(_caller_for(right), scope="function")  # a slow reader of the answer holds no connection


def _caller_for(right: str) -> Callable[..., Iterator[Caller]]:
    def caller(request: Request, token: HTTPAuthorizationCredentials | None = Depends(_bearer)) -> Iterator[Caller]:
        site: Site = request.app.state.site
        reads = request.method == "GET"
        with site.session(writes=not reads) as session:
            held = token_of(session, token.credentials) if token else None
            if token and held is None:
                raise Refused(401, "refused.sign_in")
            require(held.account if held else None, right)
            needed = "read" if reads else RIGHTS[right].scope
            if held and SCOPES.index(held.scope) < SCOPES.index(needed):
                raise Refused(403, "refused.scope", scope=needed)
            yield Caller(request, session, held.account if held else None)

    caller.right = right  # type: ignore[attr-defined]  # for the page of roles and its test
    return caller


__all__ = ["ERRORS", "LARGEST_ID", "Body", "Caller", "Id", "Trouble", "allow"]
