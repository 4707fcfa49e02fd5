"""A whole site in a test: real database (SQLite, PostgreSQL), real storage, real queue; runs are played where asked."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
import uvicorn

from bciarena.contests import rulebook
from bciarena.jobs.local import LocalEngine
from bciarena.jobs.work import Work
from bciarena.recording import write_contest
from bciarena.service import accounts, contests
from bciarena.service.app import create_app
from bciarena.service.keeper import work_once
from bciarena.service.settings import Settings
from bciarena.service.site import Site
from bciarena.service.spec import parse
from tests.making import make_data
from tests.postgres import database_url, postgres

PASSWORD = "correct horse battery"

RIGHT = """
class Entry:
    # Reports one second after each mark; right in a share of the cases, as its seed wills.
    def __init__(self):
        self.count = 0
        self.left = None
    def step(self, packet):
        if (packet.data[-1] == 249).any():
            self.left = 25
        elif self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.left = None
                self.count += 1
                return {answer}
"""


def write_imagery(folder: Path, subjects: int = 2, blocks: int = 3, trials: int = 6) -> Path:
    """A small imagery set: the truth of trial n of every block is 201 + n % 3."""
    book = rulebook("imagery")
    for subject in range(1, subjects + 1):
        for block in range(1, blocks + 1):
            codes = {250 + 1500 * n: 201 + n % 3 for n in range(trials)}
            data = make_data(book, 250 + 1500 * trials, codes, seed=subject * 10 + block)
            write_contest(folder / f"S{subject:02d}" / f"block_{block}.npz", data, book.rate, book.channels)
    return folder


class Person:
    """Somebody with a browser: keeps cookies, fills in the form token."""

    def __init__(self, base: str, name: str = "") -> None:
        self.http = httpx.Client(base_url=base, follow_redirects=False, timeout=30, trust_env=False)
        self.name = name

    def get(self, path: str, **more):
        return self.http.get(path, **more)

    def token(self) -> str:
        page = self.http.get("/login").text
        return re.search(r'name="token" value="([0-9a-f]{64})"', page)[1]

    def post(self, path: str, fields: dict | None = None, files: dict | None = None, **more):
        token = self.token()
        if files:
            more["params"] = {"token": token, **more.get("params", {})}  # asked for before the file is read
        return self.http.post(path, data={"token": token, **(fields or {})}, files=files, **more)

    def sign_up(self) -> Person:
        answer = self.post("/signup", {"name": self.name, "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        return self

    def sign_in(self) -> Person:
        answer = self.post("/login", {"name": self.name, "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        return self

    def api(self, method: str, path: str, **more):
        if not hasattr(self, "bearer"):
            body = {"name": self.name, "password": PASSWORD, "scope": "organise"}
            said = self.http.post("/api/v1/token", json=body)
            self.bearer = said.json()["token"]
        return self.http.request(method, f"/api/v1{path}", headers={"authorization": f"Bearer {self.bearer}"}, **more)


class Town:
    """A site with people, contests and, when asked, a worker."""

    def __init__(self, home: Path, database: str, **settings) -> None:
        self.settings = Settings.at(home, database, data_roots=(home / "data",), **settings)
        self.site = Site(self.settings)
        self.people: list[Person] = []
        self.app = create_app(self.settings, self.site)
        self.server = uvicorn.Server(
            uvicorn.Config(self.app, port=0, log_level="error", ws="none", proxy_headers=False)
        )
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        until = time.monotonic() + 20
        while not self.server.started and time.monotonic() < until:
            time.sleep(0.01)
        self.base = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"

    def person(self, name: str, role: str = "contestant") -> Person:
        with self.site.session(writes=True) as session:
            if accounts.account_named(session, name) is None:
                accounts.sign_up(session, name, PASSWORD, role=role)
        return self._met(Person(self.base, name)).sign_in()

    def visitor(self) -> Person:
        return self._met(Person(self.base))

    def _met(self, person: Person) -> Person:
        self.people.append(person)
        return person

    def contest(self, owner: str = "olga", slug: str = "spring", **phase) -> None:
        """An imagery contest with prepared recordings."""
        data = self.settings.home / "data" / owner / "set"
        if not data.exists():
            write_imagery(data)
        stage = {
            "name": "preliminary",
            "truth": "hidden",
            "scores": "exact",
            "data": {"folder": f"{owner}/set"},
            **phase,
        }
        with self.site.session(writes=True) as session:
            account = accounts.account_named(session, owner) or accounts.sign_up(session, owner, PASSWORD, "organiser")
            spec = parse({"slug": slug, "title": "Spring", "rulebook": "imagery/1", "phase": [stage]}, "test")
            contests.create(session, account, spec, self.settings.data_roots)
        work_once(self.site)

    def play(self) -> list[str]:
        """Drain the queue with a real worker, boxed, and settle; returns the worker's lines."""
        said: list[str] = []
        work = Work(self.site.queue, self.site.storage, LocalEngine(self.site.storage, 1), say=said.append, once=True)
        thread = threading.Thread(target=work.run)
        thread.start()
        thread.join(600)  # the first run of all makes the copies of Python that boxes have: long on a busy disk
        assert not thread.is_alive()
        while work_once(self.site):
            time.sleep(0)
        return said

    def close(self) -> None:
        for person in self.people:
            person.http.close()
        self.server.should_exit = True
        self.thread.join(20)


@pytest.fixture
def town(tmp_path, database_url, monkeypatch):
    """On SQLite and on PostgreSQL."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    town = Town(tmp_path / "home", database_url)
    yield town
    town.close()


@pytest.fixture
def sqlite_town(tmp_path, monkeypatch):
    """On SQLite alone: for what does not touch the database's own ways."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    town = Town(tmp_path / "home", f"sqlite:///{tmp_path / 'arena.db'}")
    yield town
    town.close()


def packed(folder: Path, source: str, name: str = "entry.zip", **more: str) -> Path:
    """An entry of dialect D as an upload; ``more``: further modules by their names."""
    import zipfile

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("entry.py", source)
        archive.writestr("config.toml", 'entry = "entry.py:Entry"\n')
        for module, text in more.items():
            archive.writestr(f"{module}.py", text)
    return path


def random_blocks(generator: np.random.Generator, mean: float, count: int = 8) -> list[dict]:
    return [{"subject": 1, "block": n, "score": float(generator.normal(mean, 1))} for n in range(1, count + 1)]


__all__ = [
    "PASSWORD",
    "RIGHT",
    "Person",
    "Town",
    "database_url",
    "packed",
    "postgres",
    "random_blocks",
    "write_imagery",
]
