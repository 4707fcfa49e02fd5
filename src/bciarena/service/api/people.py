"""Tokens, teams, invitations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from bciarena.service import accounts, limits, teams
from bciarena.service.api.caller import ERRORS, ACaller, Body, Caller, Id
from bciarena.service.models import Team
from bciarena.service.site import address_of

router = APIRouter(tags=["people"], responses=ERRORS)


class SignIn(Body):
    name: Annotated[str, Field(min_length=1, max_length=40)]
    password: Annotated[str, Field(min_length=1, max_length=200)]
    label: Annotated[str, Field(max_length=60)] = "command line"


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


def _team(team: Team) -> TeamOut:
    return TeamOut(id=team.id, name=team.name, members=[one.account.name for one in team.members])


@router.post("/token", summary="Sign in: a token for a name and a password")
def token(body: SignIn, call: Caller = ACaller) -> FreshToken:
    account = accounts.sign_in(call.session, body.name, body.password, address_of(call.request))
    return FreshToken(token=accounts.make_token(call.session, account, body.label))


@router.get("/me", summary="Who the token belongs to")
def me(call: Caller = ACaller) -> Me:
    return Me(name=call.me.name, role=call.me.role)


@router.get("/teams", summary="Your teams")
def my_teams(call: Caller = ACaller) -> list[TeamOut]:
    return [_team(team) for team in teams.teams_of(call.session, call.me)]


@router.post("/teams", status_code=201, summary="Found a team")
def create_team(body: NewTeam, call: Caller = ACaller) -> TeamOut:
    return _team(teams.create_team(call.session, call.me, body.name))


@router.post("/teams/{team_id}/invitations", status_code=201, summary="Make an invitation for one person")
def invite(team_id: Id, call: Caller = ACaller) -> Invitation:
    code = teams.invite(call.session, call.me, teams.team_for(call.session, call.me, team_id))
    return Invitation(code=code, path=f"/join/{code}")


@router.post("/join", summary="Join a team by an invitation's code")
def join(body: Code, call: Caller = ACaller) -> TeamOut:
    account = call.me
    limits.spend(call.session, limits.JOIN, address_of(call.request))
    return _team(teams.join(call.session, account, body.code))
