"""Codes of any experiment in a browser, as an LSL stream: for pages made with other stimulus software.

A page loads ``/bridge.js`` and calls ``arena.code(12)`` when it changes what is shown. The code is stamped with the
time of the frame that shows the change, on this machine's LSL clock, and goes out beside the amplifier's stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse

from bciarena.lab.course import clock_s

STATIC = Path(__file__).parent / "static"
HERE = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_CODE = 255
LATE_MS = 100.0  # a frame that came so long after it was asked for is told


def bridge_app(
    send_code: Callable[[int, float], None], say: Callable[[str], None], origins: Collection[str] = (), *,
    files: bool = False,
) -> FastAPI:  # fmt: skip
    """The bridge's server.

    Parameters
    ----------
    send_code : callable
        Hears every code and its time.
    say : callable
        Hears what a person must know: pages that come and go, codes that are none, frames that came late.
    origins : collection of str
        Pages of other machines that may send codes; those of this machine always may.
    files : bool
        Whether pages opened as files may, too. A browser calls them null, as it does frames that any site in the world
        may have put into a page of its own: so only where it is asked for.
    """
    app = FastAPI(title="BCI Arena bridge", openapi_url=None)

    @app.get("/bridge.js")
    def script() -> FileResponse:
        return FileResponse(STATIC / "bridge.js", media_type="text/javascript")

    @app.get("/example")
    def example() -> FileResponse:
        return FileResponse(STATIC / "example.html", media_type="text/html")

    @app.websocket("/ws/bridge")
    async def line(socket: WebSocket) -> None:
        origin = socket.headers.get("origin")  # a program of this machine has none
        own = origin is None or (files if origin == "null" else urlsplit(origin).hostname in HERE)
        if not own and origin not in origins:
            how = "--allow-file" if origin == "null" else f"--origin {origin}"
            say(f"a page of {'a file' if origin == 'null' else origin} was refused; {how} lets it send codes")
            await socket.close(4403)
            return
        await socket.accept()
        say("a page is connected")
        try:
            while True:
                answer = _hear(await socket.receive_json(), send_code, say)
                if answer:
                    await socket.send_json(answer)
        except WebSocketDisconnect:
            say("the page is gone")
        except ValueError:
            say("what the page sent is no JSON; it is let go")

    return app


def _hear(message: Any, send_code: Callable[[int, float], None], say: Callable[[str], None]) -> dict[str, Any] | None:
    """One message of a page; gives the answer to it."""
    if not isinstance(message, dict):
        return None
    if message.get("type") == "ping":
        return {"type": "pong", "page_ms": message.get("page_ms", 0), "hub_s": clock_s()}
    code, at_s, waited_ms = message.get("code"), message.get("hub_s"), message.get("waited_ms", 0)
    if type(code) is not int or not 1 <= code <= MOST_CODE or not isinstance(at_s, int | float):
        say(f"{str(code)[:40]} is no code: give a whole number from 1 to {MOST_CODE}")
        return None
    send_code(code, float(at_s))
    if isinstance(waited_ms, int | float) and waited_ms > LATE_MS:
        say(f"code {code}: the page got no frame for {waited_ms:.0f} ms; what it marks was shown late")
    return {"type": "sent", "code": code, "hub_s": at_s}
