"""A process's connection to the lab's hub: hears what the page shows, reports what was decoded."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from bciarena.errors import BadInput
from bciarena.live.notes import NOTE, told

Handler = Callable[[dict[str, Any]], None]


class HubLine:
    """Connects as a watcher and calls ``heard`` with every message, from its own thread."""

    def __init__(self, url: str, heard: Handler, wait_s: float = 10.0) -> None:
        try:
            from websockets.sync.client import connect
        except ImportError:
            raise BadInput("the lab's hub needs websockets: pip install 'bciarena[lab]'") from None
        self._open = ExitStack()
        address = url.replace("http://", "ws://").replace("https://", "wss://").rstrip("/") + "/ws/watcher"
        try:
            # The hub asks whether we are there; asking it, too, would end the line where a busy machine answers late.
            opened = connect(address, open_timeout=wait_s, max_size=8_000_000, ping_interval=None)
            self._socket = self._open.enter_context(opened)
        except (OSError, TimeoutError) as error:
            raise BadInput(f"{url}: the lab is not reachable there ({error}); start it with arena lab") from error
        self._heard = heard
        self.closed = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        self.send({"type": "subscribe"})

    def _listen(self) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            for text in self._socket:
                message = json.loads(text)
                if isinstance(message, dict):
                    self._heard(message)
        except (ConnectionClosed, ValueError):
            self.closed.set()
        self.closed.set()

    def send(self, message: dict[str, Any]) -> None:
        """Tell the hub; a line that is gone is noticed by ``closed``."""
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(json.dumps(message))
        except ConnectionClosed:
            self.closed.set()

    def close(self) -> None:
        self._open.close()


class LabPage:
    """The lab's page as seen by a run or a recorder; without an address nothing is sent.

    Parameters
    ----------
    hub : str or None
        Address of the lab's pages.
    stopped : callable
        Called when the page has ended or was aborted; ``shown`` then holds its count of frames.
    say : callable
        Hears when the lab goes away.
    """

    def __init__(self, hub: str | None, stopped: Callable[[], None], say: Callable[[str], None]) -> None:
        self.shown: dict[str, Any] = {}
        self._stopped, self._say = stopped, say
        self._over, self._measured = threading.Event(), threading.Event()
        self._screen: dict[str, Any] = {}
        self._line = HubLine(hub, self._heard) if hub else None

    def refresh_hz(self, wait_s: float) -> float | None:
        """What the stimulus page has measured; waited for where there is a page that measures, else None."""
        if self._line is None:
            return None
        self._measured.wait(wait_s)
        told = self._screen.get("refresh_hz")
        return float(told) if isinstance(told, int | float) else None

    def _heard(self, message: dict[str, Any]) -> None:
        if message.get("type") == "screen":
            self._screen = message
            if message.get("refresh_hz") or not message.get("page"):
                self._measured.set()
        if message.get("type") == "stopped":
            self.shown = {"frames": message["frames"], "dropped_frames": message["dropped"]}
            self.shown["refresh_hz"] = message["refresh_hz"]
            self._over.set()
            self._stopped()

    def send(self, message: dict[str, Any]) -> None:
        """Tell the page; the first time that it cannot be reached is said."""
        if self._line is None:
            return
        self._line.send(message)
        if self._line.closed.is_set():
            self._line = None
            self._over.set()
            self._say(NOTE("lab_gone"))

    def note(self, text: str) -> None:
        """Something the operator must know."""
        self.send(told("note", text))

    def wait_over(self, wait_s: float) -> None:
        """Wait for the page's word of its frames."""
        if self._line:
            self._over.wait(wait_s)

    def close(self) -> None:
        if self._line:
            self._line.close()
