"""The handbook, and the API's calls as a page of ours: nothing is loaded from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response

import bciarena
from bciarena.service.page import Page, may
from bciarena.service.refusals import Refused, not_found
from bciarena.service.site import language_of

router = APIRouter()
HANDBOOK = Path(bciarena.__file__).parent / "handbook"
"""Part of every wheel; in a checkout `make setup` or `make docs` builds it."""
HOUR_S = 3600


@router.get("/docs")
@router.get("/docs/")
def handbook(page: Page = may("look")) -> RedirectResponse:
    return RedirectResponse(f"/docs/{language_of(page.request)}/index.html")


@router.get("/docs/{place:path}")
def handbook_file(place: str, page: Page = may("look")) -> Response:
    """A file of the handbook; nothing outside its folder."""
    root = HANDBOOK.resolve()
    if not root.is_dir():
        raise Refused(404, "refused.no_handbook")
    if "\0" in place:
        raise not_found()
    found = (root / place).resolve()
    if found.is_dir():
        found /= "index.html"
    if not found.is_relative_to(root) or not found.is_file():
        raise not_found()
    return FileResponse(found, headers={"cache-control": f"public, max-age={HOUR_S}"})


@router.get("/api/docs")
def docs(page: Page = may("look")) -> HTMLResponse:
    document = page.request.app.openapi()
    calls = [
        _call(document, path, method, about)
        for path, methods in document["paths"].items()
        for method, about in methods.items()
    ]
    return page.render("api.html", calls=calls)


def _call(document: dict[str, Any], path: str, method: str, about: dict[str, Any]) -> dict[str, Any]:
    content = about.get("requestBody", {}).get("content", {})
    kind = next(iter(content), "")
    body = ""
    if kind == "application/json":
        body = json.dumps(_resolved(document, content[kind]["schema"]), indent=1, ensure_ascii=False)
    elif kind:
        body = kind
    return {
        "method": method.upper(),
        "path": path,
        "summary": about.get("summary", ""),
        "description": about.get("description", ""),
        "parameters": about.get("parameters", []),
        "body": body,
        "answers": ", ".join(about["responses"]),
    }


def _resolved(document: dict[str, Any], schema: Any, depth: int = 0) -> Any:
    """A schema with its references filled in, for reading."""
    if isinstance(schema, list):
        return [_resolved(document, item, depth) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema and depth < 6:
        return _resolved(document, document["components"]["schemas"][schema["$ref"].split("/")[-1]], depth + 1)
    return {
        name: _resolved(document, value, depth + 1)
        for name, value in schema.items()
        if name not in ("title", "description")
    }
