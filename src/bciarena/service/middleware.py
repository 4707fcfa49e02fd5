"""What every request passes through: a bound on its body, and the security headers of its answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastapi import HTTPException, Request, Response

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
"""A report is one self-contained page with its scripts inside: shown in a separate origin, without the cookie, in a
frame on the run's page."""

PRINT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A page to be kept and printed has its style inside and nothing active."""

HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"x-frame-options": b"DENY",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}


class SecurityHeaders:
    """Adds the headers to every answer; an answer may bring its own policy."""

    def __init__(self, app: App, https: bool = False) -> None:
        self.app = app
        self.headers = dict(HEADERS)
        if https:
            self.headers[b"strict-transport-security"] = b"max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", [])}
                extra = [(name, value) for name, value in self.headers.items() if name not in own]
                if b"cache-control" not in own:
                    extra.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        await self.app(scope, receive, with_headers)


class TooLarge(HTTPException):
    """A body that exceeded the limit (an HTTPException: FastAPI lets only those through while reading bodies)."""

    def __init__(self, limit: int) -> None:
        super().__init__(413)
        self.limit = limit


class BodyLimit:
    """Counts a body while it streams in and stops at the limit; nothing beyond it is read or kept.

    ``refuse`` makes the answer to a body whose declared length is too large.
    """

    def __init__(
        self, app: App, limit: int, upload_limit: int, uploads: str, refuse: Callable[[Request, int], Response]
    ) -> None:
        self.app, self.limit, self.upload_limit, self.refuse = app, limit, upload_limit, refuse
        self.uploads = re.compile(uploads)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        limit = self.upload_limit if self.uploads.fullmatch(scope["path"]) else self.limit
        said = dict(scope["headers"]).get(b"content-length", b"0")
        if said.isdigit() and (len(said) > 15 or int(said) > limit):
            return await self.refuse(Request(scope), limit)(scope, receive, send)
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise TooLarge(limit)
            return message

        await self.app(scope, counted, send)


class Head:
    """Answers HEAD as GET without the body: every page has one, and no route needs to know."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            return await self.app(scope, receive, send)

        async def bodiless(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET"}, receive, bodiless)
