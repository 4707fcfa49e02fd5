"""The pages, a router per subject."""

from fastapi import APIRouter

from bciarena.service.pages import (
    accounts,
    contests,
    docs,
    editing,
    entries,
    game,
    joining,
    operate,
    organise,
    roles,
    runs,
    stage,
    talk,
    teams,
)

PARTS = (accounts, talk, joining, game, stage, contests, teams, entries, runs, editing, organise, operate, roles, docs)
router = APIRouter(include_in_schema=False)
for part in PARTS:
    router.include_router(part.router)
