"""The API's documentation as a page of ours: nothing is loaded from elsewhere."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from bciarena.service.page import Page, may

router = APIRouter()


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
