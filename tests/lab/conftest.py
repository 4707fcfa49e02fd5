"""A running lab."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from tests.browser import until


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving_app(app):
    """A server in a thread; gives its address."""
    import uvicorn

    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


def serving(hub):
    """The lab's server in a thread; gives its address."""
    from bciarena.lab.app import make_app

    return serving_app(make_app(hub))


@pytest.fixture
def lab_page(page):
    """The speller's stimulus page, connected."""
    from tests.lab.blocks import patient, word_block

    with serving(patient(word_block("HI", 1, 1))) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        yield page
