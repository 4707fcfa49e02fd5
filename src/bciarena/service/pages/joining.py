"""Taking part in a contest: one's teams, their registration, their entries."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import select

from bciarena.contests import registered as find_rulebook
from bciarena.service import contests, registrations, teams, uploads
from bciarena.service.models import Registration
from bciarena.service.page import Page, may
from bciarena.service.pages.contests import head

router = APIRouter()


@router.get("/contests/{slug}/join")
def join_form(slug: str, page: Page = may("found")) -> HTMLResponse:
    contest = contests.contest_named(page.session, slug)
    challenge = find_rulebook(contest.rulebook).name
    mine = [team for team in teams.teams_of(page.session, page.me) if team.closed_at is None]
    asked = {
        one.team_id: one.state
        for one in page.session.scalars(select(Registration).where(Registration.contest_id == contest.id))
    }
    rows = [
        (
            team,
            [one for one in uploads.entries_of(page.session, team.id) if one.challenge == challenge],
            asked.get(team.id),
        )
        for team in mine
    ]
    return page.render("contest_join.html", **head(page, contest, "start"), rows=rows)


@router.post("/contests/{slug}/join")
def join(slug: str, page: Page = may("enter")) -> Response:
    contest = contests.contest_named(page.session, slug)
    team = teams.team_for(page.session, page.me, page.number("team"))
    registrations.ask(page.session, page.me, contest, team)
    return page.go(f"/contests/{slug}/join", "notice.registered")
