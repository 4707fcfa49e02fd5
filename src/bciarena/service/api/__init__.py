"""The API under /api/v1: JSON, for the command line and for scripts."""

from fastapi import APIRouter

from bciarena.service.api import people, runs, shows, staging

PREFIX = "/api/v1"
PARTS = (people, shows, runs, staging)
router = APIRouter()
for part in PARTS:
    router.include_router(part.router, prefix=PREFIX)
