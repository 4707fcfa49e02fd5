"""What all requests of a running site share, and what is read from a request's headers."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

import sqlalchemy as sa
from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy.orm import Session

from bciarena.database.db import open_database
from bciarena.jobs.queue import Queue
from bciarena.jobs.stores import open_storage
from bciarena.service import figures
from bciarena.service.boards import Boards
from bciarena.service.security import Signer
from bciarena.service.settings import Settings
from bciarena.service.shown import FILTERS
from bciarena.service.texts import LANGUAGES

HERE = Path(__file__).parent


class Site:
    """The parts every request shares."""

    def __init__(self, settings: Settings, engine: sa.Engine | None = None) -> None:
        self.settings = settings
        self.engine = engine or open_database(settings.database)
        self.storage = open_storage(self.engine, settings.storage)
        self.queue = Queue(self.engine)
        self.signer = Signer(settings.secret)
        self.boards = Boards()
        self.templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters.update(FILTERS)
        self.templates.globals.update(figures=figures)

    def session(self, writes: bool) -> Session:
        """A session; one that writes takes SQLite's lock at its start, so that it cannot fail half-way."""
        engine = self.engine.execution_options(writes=True) if writes else self.engine
        return Session(engine, expire_on_commit=False)


def language_of(request: Request) -> str:
    """The language that the address asks for (?lang=zh), else the cookie's, else the browser's, else English."""
    for chosen in (request.query_params.get("lang", ""), request.cookies.get("lang", "")):
        if chosen in LANGUAGES:
            return chosen
    for part in request.headers.get("accept-language", "").split(","):
        name = part.split(";")[0].strip().lower()[:2]
        if name in LANGUAGES:
            return name
    return "en"


def address_of(request: Request) -> str:
    """Where a request comes from, for rate limits.

    X-Forwarded-For is read from its end, as long as the addresses there are proxies named in the settings: whatever
    comes before was written by the client. An IPv6 client can choose from a whole /64, so that counts as one address.
    """
    trusted = request.app.state.site.settings.proxies
    here = _address(request.client.host if request.client else "")
    told = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    while told and here is not None and any(here in network for network in trusted):
        before = _address(told.pop())
        if before is None:
            break
        here = before
    if here is None:
        return "unknown"
    return str(ip_network((here, 64), strict=False)) if here.version == 6 else str(here)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text.strip())
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def local_path(text: str) -> str:
    """A path on this site to return to; anything else becomes the front page."""
    parts = urlsplit(text)
    safe = not parts.scheme and not parts.netloc and text.startswith("/") and not text.startswith(("//", "/\\"))
    return text if safe and text.isprintable() else "/"
