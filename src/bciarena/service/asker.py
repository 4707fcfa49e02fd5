"""Who makes a request."""

from __future__ import annotations

from sqlalchemy.orm import Session

from bciarena.service.models import Account
from bciarena.service.refusals import Refused


class Asker:
    """Who makes a request, from a page or through the API. ``account`` None: a visitor."""

    session: Session
    account: Account | None

    @property
    def me(self) -> Account:
        """The signed-in account, or a refusal that leads to the sign-in page."""
        if self.account is None:
            raise Refused(401, "refused.sign_in")
        return self.account
