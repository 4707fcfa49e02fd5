"""The front page, contests and their boards."""

from __future__ import annotations

import gzip
import re
from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from sqlalchemy import select

from bciarena.contests import contest as find_contest
from bciarena.contests import registered as find_rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.protocol import protocol_of
from bciarena.service import contests, submissions
from bciarena.service.boards import PAGE
from bciarena.service.models import Contest, Membership, Phase
from bciarena.service.page import Page, may
from bciarena.service.parts import view_of
from bciarena.service.refusals import not_found
from bciarena.service.words import challenge_title, contest_title, metric_name, phase_title, unit_name

router = APIRouter()
ANSWERS_SHOWN = 8


@router.get("/")
def home(page: Page = may("look")) -> HTMLResponse:
    return page.render("home.html", cards=[_card(page, one) for one in contests.all_contests(page.session)])


def _card(page: Page, contest: Contest) -> dict[str, Any]:
    phase = contests.current_phase(contest)
    book = find_rulebook(contest.rulebook)
    rows = page.site.boards.of(page.session, phase).rows if phase.published else ()
    return {
        "slug": contest.slug,
        "title": contest_title(page.lang, contest),
        "about": _about(page, contest).split("\n")[0][:200] or challenge_title(page.lang, book.name),
        "art": book.name,
        "unit": book.unit,
        "state": contests.phase_state(phase),
        "leader": rows[0] if rows else None,
        "hidden": not phase.published,
    }


def _about(page: Page, contest: Contest) -> str:
    return contest.about_zh if page.lang == "zh" and contest.about_zh else contest.about


@router.get("/contests/{slug}")
def contest(slug: str, page: Page = may("look")) -> Response:
    return _page(page, slug, "")


@router.get("/contests/{slug}/{phase}")
def contest_phase(slug: str, phase: str, page: Page = may("look")) -> Response:
    return _page(page, slug, phase)


@router.get("/contests/{slug}/{phase}/revision")
def revision(slug: str, phase: str, page: Page = may("look")) -> dict[str, int]:
    found = contests.contest_named(page.session, slug)
    stage = contests.phase_named(found, phase)
    if not stage.published and not contests.may_manage(page.account, found):  # how often it changes is hidden, too
        raise not_found()
    return {"revision": page.site.boards.of(page.session, stage, contests.may_manage(page.account, found)).told}


def _page(page: Page, slug: str, name: str) -> Response:
    """A contest's page. Visitors all get the same one: it is kept, packed, until anything on it changes."""

    def made() -> HTMLResponse:
        found = contests.contest_named(page.session, slug)
        return _show(page, found, contests.phase_named(found, name) if name else contests.current_phase(found))

    asked = page.request.query_params
    if page.account is not None or not set(asked) <= {"sort", "down", "page"}:
        return made()
    mark = contests.page_state(page.session, slug)
    theme = page.request.cookies.get("theme", "")
    view = (name, page.lang, theme if theme in ("dark", "light") else "", str(asked))
    plain, packed = page.site.boards.drawn(slug, mark, view, lambda: _packed(made()))
    headers = {"vary": "accept-encoding, accept-language, cookie"}
    if "gzip" not in page.request.headers.get("accept-encoding", ""):
        return HTMLResponse(plain, headers=headers)
    return HTMLResponse(packed, headers={**headers, "content-encoding": "gzip"})


def _packed(answer: HTMLResponse) -> tuple[bytes, bytes]:
    plain = bytes(answer.body)
    return plain, gzip.compress(plain, 6)


def _show(page: Page, contest: Contest, phase: Phase) -> HTMLResponse:
    manages = contests.may_manage(page.account, contest)
    shown = phase.published or manages
    book = find_rulebook(contest.rulebook)
    answers = list(book.vocabulary.items())
    if len(answers) > ANSWERS_SHOWN:
        answers = [*answers[:3], ("…", ""), answers[-1]]
    mine: list[int] = []
    if page.account is not None:
        mine = list(page.session.scalars(select(Membership.team_id).where(Membership.account_id == page.account.id)))
    return page.render(
        "contest.html",
        contest=contest,
        phase=phase,
        book=book,
        demo=has_demo(book),
        answers=answers,
        title=contest_title(page.lang, contest),
        about=_about(page, contest),
        phase_title=lambda one: phase_title(page.say, one),
        state=contests.phase_state(phase),
        manages=manages,
        shown=shown,
        mine=" ".join(map(str, mine)),
        view=view_of(phase, manages),
        told=page.site.boards.of(page.session, phase, manages).told if shown else 0,
        board=_board(page, phase, manages)
        if shown
        else Markup('<p class="note">{}</p>').format(page.say("board.hidden")),
    )


def has_demo(book: Rulebook) -> bool:
    """Whether the lab can show this experiment with a virtual subject."""
    own = find_contest(book)
    return own.has("protocol.py") and bool(protocol_of(book).demo)


def _board(page: Page, phase: Phase, full: bool) -> Markup:
    """The board's table; drawn once per revision, language and view."""
    asked = page.request.query_params
    sort, down = asked.get("sort", "rank"), asked.get("down") == "1"
    board = page.site.boards.of(page.session, phase, full)
    if sort not in (*board.columns, "rank", "team", "score", "runs", "date"):
        sort = "rank"
    pages = max(-(-len(board.rows) // PAGE), 1)
    number = int(asked.get("page", "1")) if re.fullmatch(r"[0-9]{1,6}", asked.get("page", "1")) else 1
    number = min(max(number, 1), pages)

    open_runs = submissions.runs_open(phase)

    def draw() -> str:
        rows = board.sorted_by(sort, down)[(number - 1) * PAGE : number * PAGE]
        template = page.site.templates.get_template("board.html")
        view = {"sort": sort, "down": down, "page": number, "pages": pages, "open_runs": open_runs}
        book = find_rulebook(board.rulebook)
        names = {"metric_name": partial(metric_name, page.lang, book), "unit_name": partial(unit_name, page.lang)}
        return template.render(t=page.say, board=board, rows=rows, **names, **view)

    place = (phase.id, board.view)
    return Markup(page.site.boards.drawn(place, board.revision, (page.lang, sort, down, number, open_runs), draw))
