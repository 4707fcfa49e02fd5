"""The pages, a router per subject."""

from fastapi import APIRouter

from bciarena.service.pages import accounts, contests, entries, operate, organise, runs, teams

router = APIRouter(include_in_schema=False)
for part in (accounts, contests, teams, entries, runs, organise, operate):
    router.include_router(part.router)
