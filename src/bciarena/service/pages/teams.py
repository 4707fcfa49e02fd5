"""Teams, their members and invitations."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from bciarena.contests import RULEBOOKS
from bciarena.service import limits, teams, uploads
from bciarena.service.models import Membership, Submission, Team
from bciarena.service.page import Id, Page, may
from bciarena.service.site import address_of, local_path
from bciarena.service.words import run_rows

router = APIRouter()


@router.get("/teams")
def my_teams(page: Page = may("found")) -> HTMLResponse:
    return page.render("teams.html", teams=teams.teams_of(page.session, page.me))


@router.post("/teams")
def create_team(page: Page = may("found")) -> Response:
    team = teams.create_team(page.session, page.me, page.field("name"))
    return page.go(local_path(page.field("next") or f"/teams/{team.id}"))


@router.get("/teams/{team_id}")
def show_team(team_id: Id, page: Page = may("team")) -> HTMLResponse:
    return _show(page, teams.team_for(page.session, page.me, team_id))


def _show(page: Page, team: Team, invitation: str = "") -> HTMLResponse:
    own = page.session.get(Membership, (team.id, page.me.id))
    return page.render(
        "team.html",
        team=team,
        member=own is not None,
        captain=page.me.role == "operator" or (own is not None and own.captain),
        entries=uploads.entries_of(page.session, team.id) if own else [],
        challenges=[book.name for book in RULEBOOKS.values()],
        runs=run_rows(page, page.say, page.lang, Submission.team_id == team.id),
        invitation=invitation,
        invitations=teams.invitations_of(page.session, team) if own else [],
    )


@router.post("/teams/{team_id}/entries")
def create_entry(team_id: Id, page: Page = may("enter")) -> Response:
    team = teams.team_for(page.session, page.me, team_id)
    entry = uploads.create_entry(page.session, page.me, team, page.field("name"), page.field("challenge"))
    return page.go(f"/entries/{entry.id}")


@router.post("/teams/{team_id}/invite")
def invite(team_id: Id, page: Page = may("invite")) -> HTMLResponse:
    team = teams.team_for(page.session, page.me, team_id)
    code = teams.invite(page.session, page.me, team)
    return _show(page, team, f"{page.site.settings.url}/join/{code}")


@router.post("/teams/{team_id}/invitations/{invitation_id}/revoke")
def revoke_invitation(team_id: Id, invitation_id: Id, page: Page = may("invite")) -> Response:
    team = teams.team_for(page.session, page.me, team_id)
    teams.revoke_invitation(page.session, page.me, team, invitation_id)
    return page.go(f"/teams/{team_id}", "notice.invitation_revoked")


@router.post("/teams/{team_id}/members/{account_id}/remove")
def remove(team_id: Id, account_id: Id, page: Page = may("captain")) -> Response:
    team = teams.team_for(page.session, page.me, team_id)
    teams.leave(page.session, page.me, team, account_id)
    return page.go("/teams" if account_id == page.me.id else f"/teams/{team_id}")


@router.post("/teams/{team_id}/members/{account_id}/captain")
def captain(team_id: Id, account_id: Id, page: Page = may("captain")) -> Response:
    team = teams.team_for(page.session, page.me, team_id)
    teams.make_captain(page.session, page.me, team, account_id)
    return page.go(f"/teams/{team_id}")


@router.post("/teams/{team_id}/rename")
def rename(team_id: Id, page: Page = may("captain")) -> Response:
    team = teams.team_for(page.session, page.me, team_id)
    teams.rename(page.session, page.me, team, page.field("name"))
    return page.go(f"/teams/{team_id}", "notice.saved")


@router.post("/teams/{team_id}/dissolve")
def dissolve(team_id: Id, page: Page = may("captain")) -> Response:
    team = teams.team_for(page.session, page.me, team_id)
    teams.dissolve(page.session, page.site.queue, page.me, team)
    return page.go("/teams", "notice.dissolved")


@router.get("/join/{code}")
def join_form(code: str, page: Page = may("look")) -> HTMLResponse:
    return page.render("join.html", team=teams.invitation(page.session, code).team)


@router.post("/join/{code}")
def join(code: str, page: Page = may("found")) -> Response:
    limits.spend(page.session, limits.JOIN, address_of(page.request))
    team = teams.join(page.session, page.me, code)
    return page.go(f"/teams/{team.id}", "notice.joined")
