"""The lab's web server: two pages, one line for everyone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader

from bciarena.contests import contest
from bciarena.lab.hub import ROLES, Hub, Send
from bciarena.words import read_words

WATCH_S = 0.5
LINES: dict[str, Any] = {"ws_ping_timeout": 120.0}  # a page or subject on a busy machine is slow to answer, not gone
BEHIND_MOST = 1000  # messages a slow listener may lag behind before it is let go
POLICY = "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; frame-ancestors 'none'"


def make_app(hub: Hub) -> FastAPI:
    """The application around one hub."""

    @asynccontextmanager
    async def watched(_: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(_watch(hub))
        yield
        watching.cancel()

    app = FastAPI(title="BCI Arena lab", openapi_url=None, lifespan=watched)
    pages = Environment(loader=PackageLoader("bciarena.lab"), autoescape=True)
    own, language = contest(hub.timeline.challenge), hub.language
    said = read_words(Path(__file__).parent)[language]
    shown: dict[str, Any] = {"challenge": own.name, "title": own.title(language), "language": language}
    shown |= {"stage": "/contest/stage.js" if own.has("stage.js") else "/static/cues.js", "answers": hub.words}
    shown |= {"words": {**said["lab"], **own.words.get(language, {}).get("stage", {})}, "say": said["operator"]}
    shown |= {"flickers": hub.flickers}
    static = Path(str(resources.files("bciarena.lab") / "static"))
    app.mount("/static", StaticFiles(directory=static), name="static")

    @app.get("/contest/stage.js")
    def contest_stage() -> FileResponse:
        # Of the contest's folder only this file is shown: the rest holds rules and entries.
        return FileResponse(own.folder / "stage.js", media_type="text/javascript")

    def page(name: str) -> HTMLResponse:
        return HTMLResponse(pages.get_template(name).render(shown), headers={"Content-Security-Policy": POLICY})

    @app.get("/")
    def root() -> RedirectResponse:
        return RedirectResponse("/operator")

    @app.get("/stage")
    def stage() -> HTMLResponse:
        return page("stage.html")

    @app.get("/operator")
    def operator() -> HTMLResponse:
        return page("operator.html")

    @app.websocket("/ws/{role}")
    async def line(socket: WebSocket, role: str) -> None:
        if role not in ROLES:
            await socket.close(4404)
            return
        await socket.accept()
        await _serve(hub, socket, role)

    return app


async def _watch(hub: Hub) -> None:
    while True:
        await asyncio.sleep(WATCH_S)
        hub.watch()


def heard(hub: Hub, text: str, role: str, send: Send) -> None:
    """One message as it came over the line."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return  # not JSON: nothing we could act on
    if isinstance(message, dict):
        hub.hear(role, message, send)


async def _serve(hub: Hub, socket: WebSocket, role: str) -> None:
    waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue(BEHIND_MOST)
    loop = asyncio.get_running_loop()

    def send(message: dict[str, Any]) -> None:
        def put() -> None:
            if not waiting.full():
                waiting.put_nowait(message)

        loop.call_soon_threadsafe(put)

    async def write() -> None:
        while True:
            await socket.send_text(json.dumps(await waiting.get()))

    hub.join(role, send)
    writer = asyncio.create_task(write())
    try:
        while True:
            heard(hub, await socket.receive_text(), role, send)
    except WebSocketDisconnect:
        hub.leave(role, send)
    finally:
        writer.cancel()
