"""What a running site holds, and what a request for a page knows."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile

from bciarena.jobs.db import open_database
from bciarena.jobs.queue import Queue
from bciarena.jobs.stores import open_storage
from bciarena.service import figures
from bciarena.service.boards import Boards
from bciarena.service.models import Account
from bciarena.service.refusals import Refused
from bciarena.service.security import COOKIE, COOKIE_AGE_S, Signer, Visit, new_visit
from bciarena.service.settings import Settings
from bciarena.service.shown import FILTERS
from bciarena.service.texts import LANGUAGES, say
from bciarena.service.words import challenge_title, unit_name

HERE = Path(__file__).parent


class Site:
    """The parts every request shares."""

    def __init__(self, settings: Settings, engine: sa.Engine | None = None) -> None:
        self.settings = settings
        self.engine = engine or open_database(settings.database)
        self.storage = open_storage(self.engine, settings.storage)
        self.queue = Queue(self.engine)
        self.signer = Signer(settings.secret)
        self.boards = Boards()
        self.templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters.update(FILTERS)
        self.templates.globals.update(figures=figures)

    def session(self, writes: bool) -> Session:
        """A session; one that writes takes SQLite's lock at its start, so that it cannot fail half-way."""
        engine = self.engine.execution_options(writes=True) if writes else self.engine
        return Session(engine, expire_on_commit=False)

    def account(self, session: Session, visit: Visit | None) -> Account | None:
        """Who a visit belongs to, if it still holds."""
        if visit is None or not visit.account:
            return None
        account = session.get(Account, visit.account)
        return None if account is None or account.disabled or account.epoch != visit.epoch else account


def language_of(request: Request) -> str:
    """The language of the cookie, else the first one of ours that the browser names, else English."""
    chosen = request.cookies.get("lang", "")
    if chosen in LANGUAGES:
        return chosen
    for part in request.headers.get("accept-language", "").split(","):
        name = part.split(";")[0].strip().lower()[:2]
        if name in LANGUAGES:
            return name
    return "en"


def address_of(request: Request) -> str:
    """Where a request comes from, for rate limits; proxies are believed only as far as the settings say."""
    proxies: int = request.app.state.site.settings.trusted_proxies
    told = [part.strip() for part in request.headers.get("x-forwarded-for", "").split(",") if part.strip()]
    if proxies and len(told) >= proxies:
        return str(told[-proxies])
    return request.client.host if request.client else "unknown"


class Asker:
    """Whoever asks, by a page or through the API; None is a visitor."""

    account: Account | None

    @property
    def me(self) -> Account:
        """The signed-in account, or a refusal that leads to the sign-in page."""
        if self.account is None:
            raise Refused(401, "refused.sign_in")
        return self.account

    def organiser(self) -> Account:
        if self.me.role not in ("organiser", "operator"):
            raise Refused(403, "refused.role_needed")
        return self.me

    def operator(self) -> Account:
        if self.me.role != "operator":
            raise Refused(403, "refused.role_needed")
        return self.me


class Page(Asker):
    """A request for a page: who asks, in which language, with which form."""

    def __init__(self, request: Request, session: Session, form: FormData | None) -> None:
        self.request, self.session = request, session
        self.site: Site = request.app.state.site
        self.lang = language_of(request)
        self._form = form
        seen = self.site.signer.visit(request.cookies.get(COOKIE))
        self.account = self.site.account(session, seen)
        self.visit = seen if seen and (self.account or not seen.account) else new_visit()
        self._new = self.visit is not seen
        self.token_given = False  # a visitor gets a cookie only with a form

    # ---------------------------------------------------------------- what was asked

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
            value = datetime.datetime.fromisoformat(text)
            return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()
        except (ValueError, OverflowError):
            raise Refused(422, "refused.field", name=name) from None

    def upload(self, name: str) -> UploadFile:
        value = self._form.get(name) if self._form is not None else None
        if not isinstance(value, UploadFile) or not value.filename:
            raise Refused(422, "refused.empty_upload")
        return value

    def check_form(self) -> None:
        """Refuse a form that did not come from a page of ours."""
        origin = self.request.headers.get("origin")
        if origin and urlsplit(origin).netloc != self.request.headers.get("host"):
            raise Refused(403, "refused.form")
        if self._new or not self.site.signer.form_token_fits(self.visit, self.field("token", 200)):
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
            theme=self.request.cookies.get("theme") if self.request.cookies.get("theme") in ("dark", "light") else "",
            token=_FormToken(self),
            notice=self.say(notice) if notice.startswith("notice.") and self.knows(notice) else "",
            boxed=self.site.settings.boxed,
            **values,
        )
        answer = HTMLResponse(text, code)
        if self._new and self.token_given:
            self.keep_visit(answer, self.visit)
        return answer

    def knows(self, key: str) -> bool:
        return key in LANGUAGES[self.lang]

    def keep_visit(self, answer: Response, visit: Visit) -> None:
        answer.set_cookie(
            COOKIE,
            self.site.signer.cookie(visit),
            max_age=COOKIE_AGE_S,
            httponly=True,
            samesite="lax",
            secure=self.site.settings.https,
        )

    def go(self, where: str, said: str = "") -> RedirectResponse:
        """Send the browser on after a form, with a word about what was done."""
        return RedirectResponse(f"{where}?said={said}" if said else where, 303)

    def signed_in(self, account: Account, where: str) -> RedirectResponse:
        answer = self.go(where)
        self.keep_visit(answer, new_visit(account.id, account.epoch))
        return answer


class _FormToken:
    """The token of a page's forms, made when a template writes it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def __html__(self) -> str:
        self.page.token_given = True
        return self.page.site.signer.form_token(self.page.visit)


def _is_text(value: str) -> bool:
    return "\x00" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


async def _form(request: Request) -> AsyncIterator[FormData | None]:
    if request.method != "POST":
        yield None
        return
    async with request.form(max_files=2, max_fields=100) as form:
        yield form


def _page(request: Request, form: FormData | None = Depends(_form)) -> Iterator[Page]:
    with request.app.state.site.session(writes=request.method == "POST") as session:
        page = Page(request, session, form)
        if request.method == "POST":
            page.check_form()
        yield page


def local_path(text: str) -> str:
    """A path on this site to go back to; anything else leads home."""
    parts = urlsplit(text)
    safe = not parts.scheme and not parts.netloc and text.startswith("/") and not text.startswith(("//", "/\\"))
    return text if safe and text.isprintable() else "/"


APage = Depends(_page)
