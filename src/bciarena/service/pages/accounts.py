"""Signing up, in and out; tokens, password, language."""

from __future__ import annotations

import time

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from bciarena.service import accounts, limits, mail
from bciarena.service.models import SCOPES
from bciarena.service.page import Id, Page, may
from bciarena.service.refusals import Refused
from bciarena.service.security import new_cookie
from bciarena.service.site import address_of, local_path
from bciarena.service.texts import LANGUAGES

router = APIRouter()
DAY_S = 86400


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


@router.get("/forgot")
def forgot_form(page: Page = may("look")) -> HTMLResponse:
    return page.render("forgot.html", problem="", link="")


@router.post("/forgot")
def forgot(page: Page = may("look")) -> Response:
    """Mail a link for a new password, where there is a confirmed address; what is said never tells whether."""
    if not mail.can_mail(page.site.settings):
        raise Refused(409, "refused.no_mail")
    limits.spend(page.session, limits.MAIL, f"from {address_of(page.request)}")
    accounts.mail_reset(page.session, page.site.settings, page.site.signer, page.field("name"), page.say)
    return page.go("/login", "notice.reset_sent")


@router.get("/reset/{code}")
def reset_form(code: str, page: Page = may("look")) -> HTMLResponse:
    accounts.reset_account(page.session, page.site.signer, code)
    return page.render("forgot.html", problem="", link=code)


@router.post("/reset")
def reset(page: Page = may("look")) -> Response:
    code = page.field("code")
    account = accounts.reset_account(page.session, page.site.signer, code)
    try:
        accounts.reset_password(page.session, account, account.name, page.field("new"))
    except Refused as no:
        return page.refusal("forgot.html", no, link=code)
    return page.go("/login", "notice.password")


@router.post("/account/email")
def change_email(page: Page = may("account")) -> Response:
    """Mail a link to a new address; the account has it once the link was followed. An empty one removes it."""
    email = page.field("email", 200).strip()
    if not email:
        accounts.set_email(page.session, page.me, None)
        return page.go("/account", "notice.saved")
    if not mail.can_mail(page.site.settings):
        raise Refused(409, "refused.no_mail")
    if not mail.is_address(email):
        raise Refused(422, "refused.field", name="email")
    limits.spend(page.session, limits.MAIL, f"account {page.me.id}")
    code = page.site.signer.sealed("email", [page.me.id, email])
    text = page.say("mail.confirm", name=page.me.name, link=f"{page.site.settings.url}/account/email/{code}")
    mail.send(page.site.settings, email, page.say("mail.confirm_subject"), text)
    return page.go("/account", "notice.mailed")


@router.get("/account/email/{code}")
def confirm_form(code: str, page: Page = may("account")) -> HTMLResponse:
    return page.render("confirm.html", link=code, email=_email_of(page, code))


@router.post("/account/email/confirm")
def confirm(page: Page = may("account")) -> Response:
    accounts.set_email(page.session, page.me, _email_of(page, page.field("code")))
    return page.go("/account", "notice.saved")


def _email_of(page: Page, code: str) -> str:
    told = page.site.signer.opened("email", code, DAY_S)
    if not isinstance(told, list) or len(told) != 2 or told[0] != page.me.id:
        raise Refused(404, "refused.link")
    return str(told[1])


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
