"""Tokens, teams, invitations."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from bciarena.service import accounts, limits, teams
from bciarena.service.api.caller import ERRORS, Body, Caller, Id, allow
from bciarena.service.models import Membership, Team
from bciarena.service.refusals import not_found
from bciarena.service.site import address_of

router = APIRouter(tags=["people"], responses=ERRORS)


class SignIn(Body):
    name: Annotated[str, Field(min_length=1, max_length=40)]
    password: Annotated[str, Field(min_length=1, max_length=200)]
    label: Annotated[str, Field(max_length=60)] = "command line"
    scope: Literal["read", "submit", "organise"] = "submit"
    days: Annotated[int, Field(ge=1, le=365)] = 90


class FreshToken(BaseModel):
    token: str


class Me(BaseModel):
    name: str
    role: str


class TeamOut(BaseModel):
    id: int
    name: str
    members: list[str]


class NewTeam(Body):
    name: Annotated[str, Field(min_length=1, max_length=60)]


class Code(Body):
    code: Annotated[str, Field(min_length=1, max_length=100)]


class Invitation(BaseModel):
    code: str
    path: str


class InvitationOut(BaseModel):
    id: int
    by: str | None
    created_at: float
    expires_at: float


def _team(team: Team) -> TeamOut:
    return TeamOut(id=team.id, name=team.name, members=[one.account.name for one in team.members])


@router.post("/token", summary="Sign in: a token for a name and a password")
def token(body: SignIn, call: Caller = allow("look")) -> FreshToken:
    account = accounts.sign_in(call.session, body.name, body.password, address_of(call.request))
    return FreshToken(token=accounts.make_token(call.session, account, body.label, body.scope, body.days))


@router.get("/me", summary="Who the token belongs to")
def me(call: Caller = allow("account")) -> Me:
    return Me(name=call.me.name, role=call.me.role)


@router.get("/teams", summary="Your teams")
def my_teams(call: Caller = allow("found")) -> list[TeamOut]:
    return [_team(team) for team in teams.teams_of(call.session, call.me)]


@router.post("/teams", status_code=201, summary="Found a team")
def create_team(body: NewTeam, call: Caller = allow("found")) -> TeamOut:
    return _team(teams.create_team(call.session, call.me, body.name))


@router.post("/teams/{team_id}/invitations", status_code=201, summary="Make an invitation for one person")
def invite(team_id: Id, call: Caller = allow("invite")) -> Invitation:
    code = teams.invite(call.session, call.me, teams.team_for(call.session, call.me, team_id))
    return Invitation(code=code, path=f"/join/{code}")


@router.get("/teams/{team_id}/invitations", summary="Invitations that nobody has used yet")
def invitations(team_id: Id, call: Caller = allow("invite")) -> list[InvitationOut]:
    team = teams.team_for(call.session, call.me, team_id)
    if call.session.get(Membership, (team.id, call.me.id)) is None:
        raise not_found()
    return [
        InvitationOut(
            id=one.id, by=one.maker.name if one.maker else None, created_at=one.created_at, expires_at=one.expires_at
        )
        for one in teams.invitations_of(call.session, team)
    ]


@router.delete("/teams/{team_id}/invitations/{invitation_id}", status_code=204, summary="Revoke an invitation")
def revoke_invitation(team_id: Id, invitation_id: Id, call: Caller = allow("invite")) -> None:
    team = teams.team_for(call.session, call.me, team_id)
    teams.revoke_invitation(call.session, call.me, team, invitation_id)


@router.post("/join", summary="Join a team by an invitation's code")
def join(body: Code, call: Caller = allow("found")) -> TeamOut:
    account = call.me
    limits.spend(call.session, limits.JOIN, address_of(call.request))
    return _team(teams.join(call.session, account, body.code))
