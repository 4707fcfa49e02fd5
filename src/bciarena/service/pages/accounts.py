"""Signing up, in and out; tokens, password, language."""

from __future__ import annotations

import time

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from bciarena.service import accounts, limits
from bciarena.service.models import SCOPES
from bciarena.service.page import Id, Page, may
from bciarena.service.refusals import Refused
from bciarena.service.security import new_cookie
from bciarena.service.site import address_of, local_path
from bciarena.service.texts import LANGUAGES

router = APIRouter()


def _next(page: Page) -> str:
    return local_path(page.request.query_params.get("next", "/"))


@router.get("/signup")
def signup_form(page: Page = may("look")) -> HTMLResponse:
    return page.render("signup.html", problem="", name="", next=_next(page), open=page.site.settings.open_signup)


@router.post("/signup")
def signup(page: Page = may("look")) -> Response:
    name, where = page.field("name"), local_path(page.field("next") or "/")
    try:
        if not page.site.settings.open_signup:
            raise Refused(403, "refused.signup_closed")
        limits.spend(page.session, limits.SIGNUP, address_of(page.request))
        account = accounts.sign_up(page.session, name, page.field("password"))
    except Refused as no:
        return page.refusal("signup.html", no, name=name, next=where, open=page.site.settings.open_signup)
    return page.signed_in(account, "/teams" if where == "/" else where)


@router.get("/login")
def login_form(page: Page = may("look")) -> HTMLResponse:
    return page.render("login.html", problem="", name="", next=_next(page))


@router.post("/login")
def login(page: Page = may("look")) -> Response:
    name, where = page.field("name"), local_path(page.field("next") or "/")
    try:
        account = accounts.sign_in(page.session, name, page.field("password"), address_of(page.request))
    except Refused as no:
        return page.refusal("login.html", no, name=name, next=where)
    return page.signed_in(account, where)


@router.post("/logout")
def logout(page: Page = may("account")) -> Response:
    accounts.end_visit(page.session, page.cookie)
    answer = page.go("/")
    page.keep(answer, new_cookie())
    return answer


@router.get("/language/{chosen}")
def language(chosen: str, page: Page = may("look")) -> Response:
    answer = page.go(_next(page))
    if chosen in LANGUAGES:
        page.keep_language(answer, chosen)
    return answer


@router.get("/account")
def account(page: Page = may("account")) -> HTMLResponse:
    return _account(page)


def _account(page: Page, fresh: str = "") -> HTMLResponse:
    return page.render(
        "account.html",
        tokens=accounts.tokens_of(page.session, page.me),
        fresh=fresh,
        scopes=SCOPES if page.me.role != "contestant" else SCOPES[:2],
        now=time.time(),
        days=(7, 30, 90, 365),
    )


@router.post("/account/tokens")
def make_token(page: Page = may("account")) -> HTMLResponse:
    scope, days = page.field("scope") or "submit", page.number("days") if page.field("days") else 90
    return _account(page, accounts.make_token(page.session, page.me, page.field("name"), scope, days))


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(token_id: Id, page: Page = may("account")) -> Response:
    accounts.revoke_token(page.session, page.me, token_id)
    return page.go("/account", "notice.revoked")


@router.post("/account/password")
def change_password(page: Page = may("account")) -> Response:
    accounts.change_password(page.session, page.me, page.field("old"), page.field("new"))
    answer = page.go("/account", "notice.password")
    page.keep(answer, accounts.begin_visit(page.session, page.me))
    return answer
