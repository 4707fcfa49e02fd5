"""The front page, and what everybody sees of a contest: task, rules, data, start, boards."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response
from markupsafe import Markup
from sqlalchemy import select

from bciarena.contests import contest as find_contest
from bciarena.contests import registered as find_rulebook
from bciarena.contests.page import RULINGS, rules_of
from bciarena.contests.rulebook import Rulebook
from bciarena.protocol import protocol_of
from bciarena.service import companions, contests, downloads, figures, games, markdown, posts, stage, submissions, task
from bciarena.service.boards import PAGE
from bciarena.service.models import Contest, Membership, Phase
from bciarena.service.page import Page, may
from bciarena.service.parts import terms_of, view_of
from bciarena.service.refusals import not_found
from bciarena.service.shown import metric
from bciarena.service.spec import Award
from bciarena.service.words import challenge_title, contest_title, metric_name, phase_title, unit_name
from bciarena.words import shown

router = APIRouter()
ANSWERS_SHOWN = 8
TABS = ("task", "rules", "data", "start", "board", "questions")


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
        "about": markdown.first_line(_about(page, contest))[:200] or challenge_title(page.lang, book.name),
        "art": book.name,
        "unit": book.unit,
        "state": contests.phase_state(phase),
        "leader": rows[0] if rows else None,
        "hidden": not phase.published,
    }


def _about(page: Page, contest: Contest) -> str:
    return contest.about_zh if page.lang == "zh" and contest.about_zh else contest.about


# ------------------------------------------------------------------ the tabs


@router.get("/contests/{slug}")
def contest(slug: str, page: Page = may("look")) -> Response:
    return _kept(page, slug, "task", lambda: _task(page, contests.contest_named(page.session, slug)))


@router.get("/contests/{slug}/rules")
def rules(slug: str, page: Page = may("look")) -> Response:
    def made() -> HTMLResponse:
        found = contests.contest_named(page.session, slug)
        book = find_rulebook(found.rulebook)
        return _tab(
            page,
            found,
            "rules",
            rules=[(name, value, shown(clause, page.lang)) for name, value, clause in rules_of(book)],
            rulings={
                name: [shown(text, page.lang) for text in pair]
                for name, pair in {**find_contest(book).rulings, **RULINGS}.items()
            },
            knows=page.knows,
        )

    return _kept(page, slug, "rules", made)


@router.get("/contests/{slug}/data")
def data(slug: str, page: Page = may("look")) -> Response:
    def made() -> HTMLResponse:
        found = contests.contest_named(page.session, slug)
        text = found.texts.get("data_zh" if page.lang == "zh" else "data") or found.texts.get("data", "")
        return _tab(page, found, "data", files=downloads.of(page.session, found), text=markdown.html(text))

    return _kept(page, slug, "data", made)


@router.get("/contests/{slug}/start")
def start(slug: str, page: Page = may("look")) -> Response:
    def made() -> HTMLResponse:
        found = contests.contest_named(page.session, slug)
        return _tab(page, found, "start", companion=companions.has_companion(find_rulebook(found.rulebook)))

    return _kept(page, slug, "start", made)


@router.get("/contests/{slug}/board")
def board(slug: str, page: Page = may("look")) -> Response:
    return _board_page(page, slug, "")


@router.get("/contests/{slug}/score")
def score(slug: str, page: Page = may("look")) -> dict[str, Any]:
    """The calculator: the score of an example, by the contest's own code."""
    book = find_rulebook(contests.contest_named(page.session, slug).rulebook)
    return _example(page, book, dict(page.request.query_params))


@router.get("/contests/{slug}/companion.zip")
def companion(slug: str, page: Page = may("look")) -> Response:
    book = find_rulebook(contests.contest_named(page.session, slug).rulebook)
    if not companions.has_companion(book):
        raise not_found()
    return FileResponse(companions.companion(page.site.settings, book), filename=f"{book.name}.zip")


@router.get("/contests/{slug}/SHA256SUMS")
def digests(slug: str, page: Page = may("look")) -> Response:
    found = contests.contest_named(page.session, slug)
    return Response(downloads.sums(downloads.of(page.session, found)), media_type="text/plain; charset=utf-8")


@router.get("/contests/{slug}/downloads/{name}")
def download(slug: str, name: str, page: Page = may("look")) -> Response:
    """A file, resumable: its digest is its ETag, and it goes out unpacked so that byte ranges fit together."""
    found = downloads.fetched(page.session, contests.contest_named(page.session, slug), name, page.account)
    etag = f'"{found.digest}"'
    headers = {
        "etag": etag,
        "cache-control": "private, no-cache" if found.login else "no-cache",
        "content-encoding": "identity",
    }
    if etag in [one.strip() for one in page.request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers={"etag": etag, "cache-control": headers["cache-control"]})
    path = page.site.storage.fetch(found.stored)
    return FileResponse(path, headers=headers, media_type="application/octet-stream", filename=found.name)


@router.get("/contests/{slug}/{phase}")
def contest_phase(slug: str, phase: str, page: Page = may("look")) -> Response:
    return _board_page(page, slug, phase)


@router.get("/contests/{slug}/{phase}/revision")
def revision(slug: str, phase: str, page: Page = may("look")) -> dict[str, int]:
    found = contests.contest_named(page.session, slug)
    stage = contests.phase_named(found, phase)
    manages = contests.may_manage(page.account, found)
    if not stage.published and not manages:  # how often it changes is hidden, too
        raise not_found()
    return {"revision": page.site.boards.of(page.session, stage, manages).told}


# ------------------------------------------------------------------ how they are made


def _board_page(page: Page, slug: str, name: str) -> Response:
    def made() -> HTMLResponse:
        found = contests.contest_named(page.session, slug)
        return _show(page, found, contests.phase_named(found, name) if name else contests.current_phase(found))

    return _kept(page, slug, f"board {name}", made)


def _kept(page: Page, slug: str, name: str, made: Callable[[], HTMLResponse]) -> Response:
    """A contest's page. Visitors all get the same one: it is kept, packed, until anything on it changes."""
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


def head(page: Page, contest: Contest, tab: str) -> dict[str, Any]:
    """What every tab of a contest shows above its own."""
    phase = contests.current_phase(contest)
    state = contests.phase_state(phase)
    return {
        "contest": contest,
        "book": find_rulebook(contest.rulebook),
        "title": contest_title(page.lang, contest),
        "tab": tab,
        "tabs": TABS if games.game_of(find_rulebook(contest.rulebook)) is None else (*TABS, "game"),
        "manages": contests.may_manage(page.account, contest),
        "phase_title": lambda one: phase_title(page.say, one),
        "phase_state": contests.phase_state,
        "terms_of": terms_of,
        "now_phase": phase,
        "now_state": state,
        "next_at": phase.starts_at if state == "upcoming" else phase.ends_at if state == "open" else None,
        "news": posts.news(page.session, contest)[:3],
        "html": markdown.html,
    }


def _tab(page: Page, contest: Contest, tab: str, **values: Any) -> HTMLResponse:
    return page.render(f"contest_{tab}.html", **head(page, contest, tab), **values)


def _task(page: Page, contest: Contest) -> HTMLResponse:
    book = find_rulebook(contest.rulebook)
    own = find_contest(book)
    words = own.words.get(page.lang, {}).get("page", {})
    answers = list(own.answers(page.lang).items())
    if len(answers) > ANSWERS_SHOWN:
        answers = [*answers[:3], ("…", ""), answers[-1]]
    trial = task.typical_trial(book)
    return _tab(
        page,
        contest,
        "task",
        about=markdown.html(_about(page, contest)),
        line=words.get("about", ""),
        formula=words.get("formula", ""),
        timeline=figures.timeline(trial, book, page.say) if trial else "",
        answers=answers,
        demo=has_demo(book),
        awards=[Award(**one) for one in contest.awards or ()],
        **_example(page, book, {}),
    )


def _example(page: Page, book: Rulebook, given: dict[str, str]) -> dict[str, Any]:
    chosen = task.knobs(book, given)
    made, metrics = task.example(book, chosen)
    said = [(metric_name(page.lang, book, name), metric(value, name)) for name, value in metrics.items()]
    names = [page.say("task.time") if one.name == "time" else metric_name(page.lang, book, one.name) for one in chosen]
    return {
        "score": f"{made:.2f}",
        "unit": unit_name(page.lang, book.unit),
        "metrics": said,
        "knobs": [{**one._asdict(), "label": label} for one, label in zip(chosen, names, strict=True)],
        "trials": task.TRIALS,
    }


def _show(page: Page, contest: Contest, phase: Phase) -> HTMLResponse:
    manages = contests.may_manage(page.account, contest)
    shown = phase.published or manages
    mine: list[int] = []
    if page.account is not None:
        mine = list(page.session.scalars(select(Membership.team_id).where(Membership.account_id == page.account.id)))
    hidden = Markup('<p class="note">{}</p>').format(page.say("board.hidden"))
    return page.render(
        "contest_board.html",
        **head(page, contest, "board"),
        phase=phase,
        state=contests.phase_state(phase),
        shown=shown,
        on_stage=stage.can_see(page.account, stage.stage_of(page.session, phase)),
        mine=" ".join(map(str, mine)),
        view=view_of(phase, manages),
        told=page.site.boards.of(page.session, phase, manages).told if shown else 0,
        board=_board(page, phase, manages, mine) if shown else hidden,
    )


def has_demo(book: Rulebook) -> bool:
    """Whether the lab can show this experiment with a virtual subject."""
    own = find_contest(book)
    return own.has("protocol.py") and bool(protocol_of(book).demo)


def _board(page: Page, phase: Phase, full: bool, mine: list[int]) -> Markup:
    """The board's table; drawn once per revision, language and view. One's own teams and, for organisers, all link to
    their runs.
    """
    asked = page.request.query_params
    sort, down = asked.get("sort", "rank"), asked.get("down") == "1"
    board = page.site.boards.of(page.session, phase, full)
    if sort not in (*board.columns, "rank", "team", "score", "runs", "date"):
        sort = "rank"
    pages = max(-(-len(board.rows) // PAGE), 1)
    number = int(asked.get("page", "1")) if re.fullmatch(r"[0-9]{1,6}", asked.get("page", "1")) else 1
    number = min(max(number, 1), pages)
    open_runs = submissions.runs_open(phase)
    linked = frozenset(row.team_id for row in board.rows if full or row.team_id in mine or (row.house and open_runs))

    def draw() -> str:
        rows = board.sorted_by(sort, down)[(number - 1) * PAGE : number * PAGE]
        template = page.site.templates.get_template("board.html")
        view = {"sort": sort, "down": down, "page": number, "pages": pages, "linked": linked}
        book = find_rulebook(board.rulebook)
        names = {"metric_name": partial(metric_name, page.lang, book), "unit_name": partial(unit_name, page.lang)}
        return template.render(t=page.say, board=board, rows=rows, knows=page.knows, **names, **view)

    place = (phase.id, board.view)
    return Markup(page.site.boards.drawn(place, board.revision, (page.lang, sort, down, number, linked), draw))
