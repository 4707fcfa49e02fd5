"""A contest's question, asked of visitors: rounds to watch, and people, decoders and chance side by side."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

from bciarena.contests import contest as find_contest
from bciarena.contests import registered as find_rulebook
from bciarena.contests.game import Told
from bciarena.service import contests, games
from bciarena.service.page import Page, may
from bciarena.service.pages.contests import head
from bciarena.service.site import address_of

router = APIRouter()


@router.get("/contests/{slug}/game")
def game(slug: str, page: Page = may("look")) -> HTMLResponse:
    found = contests.contest_named(page.session, slug)
    games.asked(found)
    own = find_contest(find_rulebook(found.rulebook)).words[page.lang].get("game", {})
    lines = [games.Line("game.visitors", games.visitors(page.session, found), False)]
    lines += games.decoders(page.session, page.site, found)
    return page.render("contest_game.html", **head(page, found, "game"), own=own, lines=lines)


@router.get("/contests/{slug}/game.js")
def script(slug: str, page: Page = may("look")) -> Response:
    found = contests.contest_named(page.session, slug)
    games.asked(found)
    # Of the contest's folder only this file is shown: the rest holds rules and entries.
    path = find_contest(find_rulebook(found.rulebook)).folder / "game.js"
    return FileResponse(path, media_type="text/javascript")


@router.get("/contests/{slug}/game/round")
def new_round(slug: str, page: Page = may("look")) -> dict[str, Any]:
    return games.new_round(page.site, contests.contest_named(page.session, slug))


@router.post("/contests/{slug}/game")
def answer(slug: str, page: Page = may("look")) -> dict[str, Any]:
    found = contests.contest_named(page.session, slug)
    said = page.field("said", 100)
    truth = games.answer(page.session, page.site, found, page.field("code", 500), said, address_of(page.request))
    return {"truth": truth, "visitors": _plain(games.visitors(page.session, found))}


def _plain(told: Told) -> list[list[Any]]:
    return [[share.hits, share.all, share.value, share.interval] for _, share in told.items()]
