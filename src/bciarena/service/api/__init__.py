"""The API under /api/v1: JSON, for the command line and for scripts."""

from fastapi import APIRouter

from bciarena.service.api import docs, people, runs, shows, staging

router = APIRouter()
for part in (people, shows, runs, staging):
    router.include_router(part.router, prefix="/api/v1")
router.include_router(docs.router)
