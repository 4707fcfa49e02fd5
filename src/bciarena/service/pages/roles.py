"""What each role may do, made from the table the routes themselves obey."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

from bciarena.service.page import Page, may
from bciarena.service.rights import EVERYBODY, RIGHTS

router = APIRouter()


class Address(NamedTuple):
    method: str
    path: str
    right: str


def addresses() -> list[Address]:
    """Every address of pages and API with the right it needs."""
    from bciarena.service import api, pages

    found = []
    for prefix, parts in (("", pages.PARTS), (api.PREFIX, api.PARTS)):
        for part in parts:
            for route in part.router.routes:
                if isinstance(route, APIRoute):
                    right = next(right for one in route.dependant.dependencies if (right := _right(one.call)))
                    found += [Address(method, prefix + route.path, right) for method in sorted(route.methods or ())]
    return found


def _right(call: Any) -> str | None:
    right: str | None = getattr(call, "right", None)
    return right


@router.get("/roles")
def roles(page: Page = may("look")) -> HTMLResponse:
    uses = defaultdict(list)
    for one in addresses():
        uses[one.right].append(one)
    return page.render("roles.html", rights=RIGHTS, everybody=EVERYBODY, uses=uses)
