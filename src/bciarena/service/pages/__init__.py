"""The pages, a router per subject."""

from fastapi import APIRouter

from bciarena.service.pages import accounts, contests, docs, entries, operate, organise, roles, runs, teams

PARTS = (accounts, contests, teams, entries, runs, organise, operate, roles, docs)
router = APIRouter(include_in_schema=False)
for part in PARTS:
    router.include_router(part.router)
