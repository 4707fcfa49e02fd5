"""Announcements, questions and answers of a contest; the inbox."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from bciarena.service import contests, letters, posts
from bciarena.service.page import Id, Page, may
from bciarena.service.pages.contests import head

router = APIRouter()


@router.get("/contests/{slug}/questions")
def questions(slug: str, page: Page = may("look")) -> HTMLResponse:
    contest = contests.contest_named(page.session, slug)
    return page.render(
        "contest_questions.html",
        **{**head(page, contest, "questions"), "news": posts.news(page.session, contest)},
        questions=posts.questions(page.session, contest, page.account),
    )


@router.post("/contests/{slug}/questions")
def ask(slug: str, page: Page = may("account")) -> Response:
    contest = contests.contest_named(page.session, slug)
    posts.ask(page.session, page.me, contest, page.field("title"), page.field("text", posts.LONGEST))
    return page.go(f"/contests/{slug}/questions", "notice.asked")


@router.post("/contests/{slug}/news")
def announce(slug: str, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    posts.announce(page.session, page.me, contest, page.field("title"), page.field("text", posts.LONGEST))
    return page.go(f"/contests/{slug}/questions", "notice.saved")


@router.post("/contests/{slug}/questions/{post_id}/answer")
def answer(slug: str, post_id: Id, page: Page = may("manage")) -> Response:
    contest = contests.managed(page.session, page.me, slug)
    text, public = page.field("answer", posts.LONGEST), bool(page.field("public"))
    posts.answer(page.session, page.me, contest, post_id, text, public)
    return page.go(f"/contests/{slug}/questions", "notice.saved")


@router.post("/contests/{slug}/questions/{post_id}/remove")
def remove(slug: str, post_id: Id, page: Page = may("manage")) -> Response:
    posts.remove(page.session, page.me, contests.managed(page.session, page.me, slug), post_id)
    return page.go(f"/contests/{slug}/questions", "notice.removed_post")


@router.get("/inbox")
def inbox(page: Page = may("account")) -> HTMLResponse:
    found = letters.inbox(page.session, page.me)
    return page.render("inbox.html", letters=[(one, letters.text_of(one, page.lang)) for one in found])


@router.post("/inbox/read")
def read(page: Page = may("account")) -> Response:
    letters.read_all(page.session, page.me)
    return page.go("/inbox")
