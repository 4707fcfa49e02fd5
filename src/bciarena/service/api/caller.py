"""Who calls the API: a bearer token, never a cookie, so that no other site can make a browser call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Depends, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from sqlalchemy.orm import Session

from bciarena.service.accounts import account_of_token
from bciarena.service.models import Account
from bciarena.service.refusals import Refused
from bciarena.service.site import Asker, Site
from bciarena.service.spec import Strict as Body

_bearer = HTTPBearer(auto_error=False, description="A token from the account page, or from POST /api/v1/token.")
LARGEST_ID = 2**63 - 1
Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]


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


def _caller(request: Request, token: HTTPAuthorizationCredentials | None = Depends(_bearer)) -> Iterator[Caller]:
    site: Site = request.app.state.site
    with site.session(writes=request.method != "GET") as session:
        account = account_of_token(session, token.credentials) if token else None
        if token and account is None:
            raise Refused(401, "refused.sign_in")
        yield Caller(request, session, account)


ACaller = Depends(_caller)

__all__ = ["ERRORS", "LARGEST_ID", "ACaller", "Body", "Caller", "Id", "Trouble"]
