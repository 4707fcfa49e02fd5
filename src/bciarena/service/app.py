"""Puts the site together: pages, API, static files, headers and error pages."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect

import bciarena
from bciarena.database.db import is_unreachable
from bciarena.errors import BadInput, Fault
from bciarena.jobs.storage import Damaged, Missing, Unwell
from bciarena.service import api, pages
from bciarena.service.gate import Gate
from bciarena.service.middleware import BodyLimit, Head, SecurityHeaders, TooLarge
from bciarena.service.refusals import Refused
from bciarena.service.settings import Settings
from bciarena.service.site import Site, language_of, local_path
from bciarena.service.texts import say

STATIC = Path(__file__).parent / "static"
UPLOADS = r"/entries/\d+/versions|/api/v1/entries/\d+/versions|/organise/[a-z0-9-]+/(?:upload|downloads)"
HOUR_S = 3600
log = logging.getLogger("bciarena.service")


def create_app(settings: Settings, site: Site | None = None) -> FastAPI:
    """The site as an ASGI application."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        app.state.site.engine.dispose()

    app = FastAPI(
        title="BCI Arena",
        version=bciarena.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,  # it would redirect to whatever the Host header says
        lifespan=life,
    )
    app.state.site = site or Site(settings)
    files = {path.name: path for path in STATIC.iterdir() if path.is_file()}

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        if name not in files:
            raise HTTPException(404)
        return FileResponse(files[name], headers={"cache-control": f"public, max-age={HOUR_S}"})

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return RedirectResponse("/static/icon.svg")

    app.include_router(api.router)
    app.include_router(pages.router)
    app.add_exception_handler(BadInput, _told)
    app.add_exception_handler(RequestValidationError, _told)
    app.add_exception_handler(HTTPException, _told)
    app.add_exception_handler(DBAPIError, _told)
    app.add_exception_handler(Fault, _told)
    app.add_exception_handler(ClientDisconnect, _told)
    app.add_exception_handler(Exception, _told)
    app.add_middleware(GZipMiddleware, minimum_size=2000, compresslevel=5)
    app.add_middleware(Gate, uploads=UPLOADS, refuse=_told)
    app.add_middleware(
        BodyLimit,
        limit=settings.form_limit,
        upload_limit=settings.upload_limit,
        uploads=UPLOADS,
        refuse=lambda request, limit: _told(request, TooLarge(limit)),
    )
    app.add_middleware(Head)
    app.add_middleware(SecurityHeaders, https=settings.https)
    return app


def _what(error: Exception) -> tuple[int, str, dict[str, Any]]:
    """Status, text key and words of an error."""
    if isinstance(error, Refused):
        return error.status, error.key, error.words
    if isinstance(error, BadInput):
        return 422, "refused.package", {"why": error.args[0]}
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        if first["loc"][0] == "path":
            return 404, "refused.not_found", {}
        return 422, "refused.field", {"name": ".".join(str(part) for part in first["loc"][1:]) or "body"}
    if isinstance(error, TooLarge):
        return 413, "refused.too_large", {"most": error.limit >> 20}
    if isinstance(error, ClientDisconnect):  # nobody is there to read the answer
        return 400, "refused.form", {}
    if isinstance(error, HTTPException):
        key = {404: "refused.not_found", 405: "refused.not_found"}.get(error.status_code, "refused.form")
        return error.status_code, key, {}
    if isinstance(error, (Missing, Damaged)):
        log.error("%s: %s", type(error).__name__, error)
        return 500, "error.missing", {}
    if isinstance(error, Unwell) or (isinstance(error, DBAPIError) and is_unreachable(error)):
        log.error("%s: %s", type(error).__name__, error)
        return 503, "error.away", {}
    log.error("%s: %s", type(error).__name__, error, exc_info=error)
    return 500, "error.ours", {}


def _told(request: Request, error: Exception) -> Response:
    """An error as JSON for the API, as a page for people."""
    status, key, words = _what(error)
    lang = language_of(request)
    headers: dict[str, str] = dict(getattr(error, "headers", None) or {})
    if status == 413:
        headers["connection"] = "close"  # the rest of the body is not read
    if request.url.path.startswith("/api/") or "application/json" in request.headers.get("accept", ""):
        if status == 401:
            headers["www-authenticate"] = "Bearer"
        return JSONResponse({"error": say("en", key, **words), "key": key}, status, headers=headers)
    if status == 401:
        return RedirectResponse(f"/login?next={quote(request.url.path)}", 303)
    site: Site = request.app.state.site
    back = local_path(urlsplit(request.headers.get("referer", "/")).path or "/")
    text = site.templates.get_template("error.html").render(
        t=lambda name, **fill: say(lang, name, **fill),
        lang=lang,
        me=None,
        path=request.url.path,
        base=site.settings.url,
        theme="",
        token="",
        notice="",
        boxed=True,
        title=say(lang, "error.title"),
        words=say(lang, key, **words),
        back=back,
    )
    return Response(text, status, headers, media_type="text/html")
