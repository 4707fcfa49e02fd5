"""The local engine and a child that does not behave."""

from __future__ import annotations

import sys
import time

import pytest

from bciarena.jobs.lease import Lease
from bciarena.jobs.local import LocalEngine
from bciarena.jobs.storage import Storage

LINES = ["no json", "[1, 2]", "null", '{"outcome": 3}', '{"outcome": {"nonsense": 1}}', '{"progress": ', "\xff\xfe"]


@pytest.mark.parametrize("line", LINES)
def test_a_broken_line_of_a_made_up_child_faults_its_job_alone(line: str, storage: Storage, monkeypatch) -> None:
    script = f"import sys, time; sys.stdin.readline(); sys.stdout.buffer.write({line.encode('latin1')!r} + b'\\n'); "
    script += "sys.stdout.flush(); time.sleep(60)"
    monkeypatch.setattr("bciarena.jobs.local.own_python", lambda *_: [sys.executable, "-c", script])
    engine = LocalEngine(storage, 1)
    engine.start(Lease(job=1, attempt=1, kind="noop", payload={}))
    until = time.monotonic() + 20
    ended: list = []
    while not ended and time.monotonic() < until:
        ended = engine.poll(0.1)
    engine.close()
    (_, outcome) = ended[0]
    assert not outcome.verdict
    assert "something unreadable" in outcome.error
    assert engine.free() == 1
