"""arena serve as it is started: a process of its own, in a folder where others have left something."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from tests.service.conftest import Person
from tests.service.test_edges import mode


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """Modules that Python would find in the present folder: each leaves a mark when it is imported."""
    folder = tmp_path / "trap"
    folder.mkdir()
    for name in ("org", "sqlalchemy", "numpy", "fsspec"):
        (folder / f"{name}.py").write_text(f"open({str(folder / 'mark')!r}, 'a').write('{name} ')\nraise ImportError\n")
    return folder


@pytest.fixture
def served(trap: Path, tmp_path: Path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tmp_path / "home"
    command = [str(Path(sys.executable).parent / "arena"), "serve", "--home", str(home), "--port", str(port)]
    environment = {**os.environ, "ARENA_CACHE": str(tmp_path / "cache"), "PYTHONPATH": ""}
    process = subprocess.Popen(
        [*command, "--workers", "1"], cwd=trap, env=environment, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield process, f"http://127.0.0.1:{port}", home
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    process.stderr.close()


def test_a_served_site(served, trap):
    process, base, home = served
    children = psutil.Process(process.pid).children()
    assert len(children) == 2  # the keeper and the worker
    for child in children:
        assert "arena.db" not in " ".join(child.cmdline())  # a URL may hold a password; command lines are public
    password = (home / "operator-password.txt").read_text().strip()  # not in the log, which others may read
    assert mode(home / "operator-password.txt") == 0o600
    assert mode(home) == 0o700
    assert {mode(path) for path in home.glob("arena.db*")} == {0o600}
    admin = Person(base)
    assert admin.post("/login", {"name": "admin", "password": password}).status_code == 303
    assert admin.get("/operate").status_code == 200
    codes = []
    for n in range(22):  # twice the limit, should its quarter of an hour end meanwhile
        headers = {"x-forwarded-for": f"10.1.1.{n}"}
        body = {"name": "somebody", "password": "wrong"}
        answer = httpx.post(f"{base}/api/v1/token", json=body, headers=headers, trust_env=False, timeout=30)
        codes.append(answer.status_code)
    assert codes[-1] == 429
    time.sleep(2.5)  # children that died would have been started again by now
    assert [child.pid for child in children] == [child.pid for child in psutil.Process(process.pid).children()]
    assert not (trap / "mark").exists()
    admin.http.close()


def test_what_it_says_at_the_start(served):
    process, base, _ = served
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    said = process.stderr.read()
    assert f"{base} (Ctrl-C ends it)" in said
    assert re.search(r"operator account made: name admin, password in .*operator-password.txt", said)
