"""A process's line to the lab's hub: told what the page shows, tells what was decoded."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from bciarena.errors import BadInput

Handler = Callable[[dict[str, Any]], None]


class HubLine:
    """Connects as a watcher and calls ``heard`` with every message, from a thread of its own."""

    def __init__(self, url: str, heard: Handler, wait_s: float = 10.0) -> None:
        try:
            from websockets.sync.client import connect
        except ImportError:
            raise BadInput("the lab's hub needs websockets: pip install 'bciarena[lab]'") from None
        address = url.replace("http://", "ws://").replace("https://", "wss://").rstrip("/") + "/ws/watcher"
        try:
            self._socket = connect(address, open_timeout=wait_s, max_size=8_000_000)
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
        self._socket.close()
