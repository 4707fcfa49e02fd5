"""A request for a page: who asks, in which language, with which form; and who may ask at all."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile

from bciarena.service import letters
from bciarena.service.accounts import begin_visit, visitor_of
from bciarena.service.asker import Asker
from bciarena.service.mail import can_mail
from bciarena.service.models import Account
from bciarena.service.refusals import Refused, not_found
from bciarena.service.rights import require
from bciarena.service.security import COOKIE, COOKIE_AGE_S, Cookie, new_cookie
from bciarena.service.site import Site, language_of
from bciarena.service.spec import LAST_S, seconds
from bciarena.service.texts import LANGUAGES, say
from bciarena.service.words import challenge_title, unit_name

LARGEST_ID = 2**63 - 1
YEAR_S = 365 * 86400
Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
"""A number in an address that names a row; numbers that no row can have are not found."""


class Page(Asker):
    """A request for a page: who asks, in which language, with which form."""

    def __init__(self, request: Request, session: Session, form: FormData | None) -> None:
        self.request, self.session = request, session
        self.site: Site = request.app.state.site
        self.lang = language_of(request)
        self._form = form
        seen = self.site.signer.read(request.cookies.get(COOKIE))
        self.account = visitor_of(session, seen)
        self.cookie = seen if seen and (self.account or not seen.account) else new_cookie()
        self._new = self.cookie is not seen
        self.token_given = False  # a visitor gets a cookie only with a form

    # ---------------------------------------------------------------- what was asked

    def id(self, name: str) -> int:
        """A number of the address, for checks made before FastAPI has parsed it."""
        text = str(self.request.path_params[name])
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise not_found()
        return int(text)

    def field(self, name: str, most: int = 2000) -> str:
        """A text field of the form; missing ones are empty, too long ones are refused."""
        value = self._form.get(name, "") if self._form is not None else ""
        if not isinstance(value, str) or len(value) > most or not _is_text(value):
            raise Refused(422, "refused.field", name=name)
        return value

    def number(self, name: str, least: int = 0, most: int = 2**31) -> int:
        text = self.field(name, 20).strip()
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise Refused(422, "refused.field", name=name)
        return int(text)

    def moment(self, name: str) -> float | None:
        """A date and time (UTC) of the form, or None when it was left empty."""
        text = self.field(name, 40).strip()
        if not text:
            return None
        try:
            value = seconds(datetime.datetime.fromisoformat(text))
        except (ValueError, OverflowError):
            raise Refused(422, "refused.field", name=name) from None
        if value is None or not 0 <= value <= LAST_S:  # what cannot be shown on the next page is refused here
            raise Refused(422, "refused.field", name=name)
        return value

    def upload(self, name: str) -> UploadFile:
        value = self._form.get(name) if self._form is not None else None
        if not isinstance(value, UploadFile) or not value.filename:
            raise Refused(422, "refused.empty_upload")
        return value

    def check_origin(self) -> None:
        """Refuse a form that a browser says comes from another site."""
        origin = self.request.headers.get("origin")
        if origin and urlsplit(origin).netloc != self.request.headers.get("host"):
            raise Refused(403, "refused.form")

    def check_form(self) -> None:
        """Refuse a form that did not come from a page of ours.

        A form with a file bears its token in the address, too: it is asked for before the file is read.
        """
        told = self.request.query_params.get("token", "") if self._form is None else self.field("token", 200)
        if self._new or not self.site.signer.form_token_fits(self.cookie, told):
            raise Refused(403, "refused.form")

    # ---------------------------------------------------------------- answers

    def say(self, key: str, **words: Any) -> str:
        return say(self.lang, key, **words)

    def render(self, template: str, code: int = 200, **values: Any) -> HTMLResponse:
        notice = self.request.query_params.get("said", "")
        text = self.site.templates.get_template(template).render(
            t=self.say,
            challenge_title=partial(challenge_title, self.lang),
            unit_name=partial(unit_name, self.lang),
            lang=self.lang,
            me=self.account,
            path=self.request.url.path,
            base=self.site.settings.url,
            theme=self.request.cookies.get("theme") if self.request.cookies.get("theme") in ("dark", "light") else "",
            token=_FormToken(self),
            notice=self.say(notice) if notice.startswith("notice.") and self.knows(notice) else "",
            boxed=self.site.settings.boxed,
            can_mail=can_mail(self.site.settings),
            unread=letters.unread(self.session, self.account) if self.account else 0,
            **values,
        )
        answer = HTMLResponse(text, code)
        if self._new and self.token_given:
            self.keep(answer, self.cookie)
        if self.request.query_params.get("lang") == self.lang:
            self.keep_language(answer, self.lang)
        return answer

    def refusal(self, template: str, no: Refused, **values: Any) -> HTMLResponse:
        """The form again, with the reason why it was refused."""
        answer = self.render(template, no.status, problem=self.say(no.key, **no.words), **values)
        answer.headers.update(no.headers)
        return answer

    def knows(self, key: str) -> bool:
        return key in LANGUAGES[self.lang]

    def keep(self, answer: Response, cookie: Cookie) -> None:
        answer.set_cookie(
            COOKIE,
            self.site.signer.signed(cookie),
            max_age=COOKIE_AGE_S,
            httponly=True,
            samesite="lax",
            secure=self.site.settings.https,
        )

    def keep_language(self, answer: Response, lang: str) -> None:
        """Remember a language that was asked for."""
        answer.set_cookie("lang", lang, max_age=YEAR_S, samesite="lax", secure=self.site.settings.https)

    def go(self, where: str, said: str = "") -> RedirectResponse:
        """Redirect the browser after a form, with a notice of what was done."""
        return RedirectResponse(f"{where}?said={said}" if said else where, 303)

    def signed_in(self, account: Account, where: str) -> RedirectResponse:
        answer = self.go(where)
        self.keep(answer, begin_visit(self.session, account))
        return answer


class _FormToken:
    """The token of a page's forms, made when a template writes it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def __html__(self) -> str:
        self.page.token_given = True
        return self.page.site.signer.form_token(self.page.cookie)


def _is_text(value: str) -> bool:
    return "\x00" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


Before = Callable[["Page"], None]


def may(right: str, before: Before | None = None) -> Any:
    """A page for those who have a right (a parameter's default, as FastAPI's Depends).

    Nothing of a form is read before its sender is known to be allowed: an upload is large. ``before`` makes further
    checks at that point, with its own session that may write; its page has no form yet.
    """
    return Depends(_page_for(right, before), scope="function")  # a slow reader of the answer holds no connection


def _page_for(right: str, before: Before | None) -> Callable[..., Iterator[Page]]:
    def admit(request: Request) -> None:
        with request.app.state.site.session(writes=before is not None) as session:
            page = Page(request, session, None)
            require(page.account, right)
            page.check_origin()
            if before is not None:
                before(page)
            if request.headers.get("content-type", "").startswith("multipart/"):
                page.check_form()

    async def form(request: Request) -> AsyncIterator[FormData | None]:
        if request.method != "POST":
            yield None
            return
        await run_in_threadpool(admit, request)
        async with request.form(max_files=1, max_fields=100) as form:
            yield form

    def page(request: Request, form: FormData | None = Depends(form, scope="function")) -> Iterator[Page]:
        posted = request.method == "POST"
        with request.app.state.site.session(writes=posted) as session:
            page = Page(request, session, form)
            require(page.account, right)
            if posted:
                page.check_form()
            yield page

    page.right = right  # type: ignore[attr-defined]  # for the page of roles and its test
    return page
