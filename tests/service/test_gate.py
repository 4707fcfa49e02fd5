"""Many requests at once, slow senders and slow readers: the site goes on answering."""

from __future__ import annotations

import logging
import select
import socket
import time
from contextlib import ExitStack

import httpx
import pytest

from bciarena.service import gate

REQUEST = b"GET /api/v1/contests HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def opened(stack: ExitStack, town) -> socket.socket:
    host, port = town.base.removeprefix("http://").split(":")
    return stack.enter_context(socket.create_connection((host, int(port)), timeout=20))


def codes(sockets: list[socket.socket], wait_s: float = 60) -> list[bytes]:
    """The status of each answer; fails when one does not come."""
    found = {}
    while len(found) < len(sockets):
        ready = select.select([s for s in sockets if s not in found], [], [], wait_s)[0]
        assert ready, f"{len(sockets) - len(found)} of {len(sockets)} requests are not answered"
        for one in ready:
            found[one] = one.recv(64)[9:12]
    return list(found.values())


def test_more_requests_at_one_moment_than_threads_and_connections(town):
    with ExitStack() as stack:
        sockets = [opened(stack, town) for _ in range(120)]
        for one in sockets:
            one.sendall(REQUEST)
        assert set(codes(sockets)) == {b"200"}


def form(length: int, path: str = "/login") -> bytes:
    kind = "application/x-www-form-urlencoded"
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\nname=".encode()


def test_forms_that_never_end_hold_nobody_up(sqlite_town):
    with ExitStack() as stack:
        for _ in range(60):
            opened(stack, sqlite_town).sendall(form(50_000))
        for _ in range(3):
            assert httpx.get(f"{sqlite_town.base}/login", timeout=20, trust_env=False).status_code == 200


def test_a_form_has_a_minute_to_arrive(sqlite_town, monkeypatch):
    monkeypatch.setattr(gate, "BODY_S", 0.2)
    with ExitStack() as stack:
        slow = opened(stack, sqlite_town)
        slow.sendall(form(50_000))
        assert codes([slow]) == [b"408"]


def test_uploads_that_never_end_hold_nobody_up_and_are_few(sqlite_town, tmp_path):
    anna = sqlite_town.person("anna")
    team = anna.api("POST", "/teams", json={"name": "Anna's"}).json()["id"]
    entry = anna.api("POST", f"/teams/{team}/entries", json={"name": "e", "challenge": "imagery"}).json()["id"]
    head = (
        f"PUT /api/v1/entries/{entry}/versions?filename=x.zip HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {anna.bearer}\r\nContent-Length: 1000000\r\n\r\nPK"
    ).encode()
    with ExitStack() as stack:
        slow = [opened(stack, sqlite_town) for _ in range(20)]
        for one in slow:
            one.sendall(head)
        assert httpx.get(f"{sqlite_town.base}/login", timeout=20, trust_env=False).status_code == 200
        refused = select.select(slow, [], [], 20)[0]
        while len(refused) < len(slow) - gate.UPLOADS_EACH:
            refused = select.select(slow, [], [], 20)[0]
        assert set(codes(refused)) == {b"503"}
        for one in slow:
            one.close()
    until_s = time.monotonic() + 20  # those who left give their places back once the server has noticed
    while (said := anna.api("PUT", f"/entries/{entry}/versions", content=b"PK")).status_code == 503:
        assert time.monotonic() < until_s
    assert said.status_code == 422


def test_who_leaves_in_the_middle_of_a_form_writes_no_log(sqlite_town, caplog):
    caplog.set_level(logging.INFO)
    with ExitStack() as stack:
        for _ in range(5):
            one = opened(stack, sqlite_town)
            one.sendall(form(50_000))
            one.close()
        opened(stack, sqlite_town).sendall(REQUEST)
        assert httpx.get(f"{sqlite_town.base}/login", timeout=20, trust_env=False).status_code == 200
    assert [record for record in caplog.records if record.name != "httpx"] == []


@pytest.mark.parametrize("path", ["/login", "/api/v1/token"])
def test_a_body_that_is_too_large_is_refused_as_before(sqlite_town, path):
    """Its length is not declared."""

    def pieces():
        for _ in range(100):
            yield b"x" * 65_536

    answer = httpx.post(f"{sqlite_town.base}{path}", content=pieces(), timeout=20, trust_env=False)
    assert answer.status_code == 413
