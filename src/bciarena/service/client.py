"""The site from a contestant's side: what the command line uses to talk to the API."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput
from bciarena.plaintext import one_line

PIECE = 1 << 18


def _file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "bciarena" / "login.json"


def keep_login(site: str, token: str) -> Path:
    """Keep a login, readable by this user alone."""
    path = _file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump({"site": site, "token": token}, file)
    return path


class Client:
    """Calls of the API; every refusal becomes one clear line."""

    def __init__(self, site: str, token: str = "") -> None:
        try:
            import httpx
        except ImportError as error:
            raise BadInput("talking to a site needs httpx: pip install 'bciarena[site]'") from error
        if not site.startswith(("http://", "https://")):
            raise BadInput(f"{site}: a site's address begins with http:// or https://")
        self.site = site.rstrip("/")
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._headers = headers
        self._httpx = httpx

    @staticmethod
    def signed_in() -> Client:
        """The client for the login kept by `arena login`; ARENA_SITE and ARENA_TOKEN take precedence."""
        site, token = os.environ.get("ARENA_SITE", ""), os.environ.get("ARENA_TOKEN", "")
        if not (site and token):
            try:
                kept = json.loads(_file().read_text("utf-8"))
                site, token = str(kept["site"]), str(kept["token"])
            except (OSError, ValueError, KeyError):
                raise BadInput("not signed in: use arena login, or set ARENA_SITE and ARENA_TOKEN") from None
        return Client(site, token)

    def text(self, path: str) -> str:
        """The answer of a call as it is."""
        return str(self._answer("GET", path).text)

    def _answer(self, method: str, path: str, **more: Any) -> Any:
        try:
            with self._httpx.Client(base_url=self.site, headers=self._headers, timeout=60.0) as http:
                answer = http.request(method, f"/api/v1{path}", **more)
        except self._httpx.HTTPError as error:
            raise BadInput(f"{self.site}: cannot be reached ({error or type(error).__name__})") from error
        if answer.status_code >= 400:
            try:
                said = answer.json()["error"]
            except (ValueError, KeyError, TypeError):
                said = answer.text.strip()[:300] or f"status {answer.status_code}"
            raise BadInput(f"{self.site}: {said}")
        return answer

    def call(self, method: str, path: str, **more: Any) -> Any:
        """One call; the JSON of its answer."""
        try:
            return _lines(self._answer(method, path, **more).json())
        except ValueError:
            raise BadInput(f"{self.site}: does not answer like an arena site; is the address right?") from None

    def upload(self, entry: int, path: Path, advance: Callable[[int], None]) -> dict[str, Any]:
        """Send a package in pieces."""

        def pieces() -> Iterator[bytes]:
            with open(path, "rb") as file:
                while piece := file.read(PIECE):
                    yield piece
                    advance(len(piece))

        headers = {"content-type": "application/octet-stream", "content-length": str(path.stat().st_size)}
        query = {"filename": path.name}
        return dict(self.call("PUT", f"/entries/{entry}/versions", params=query, content=pieces(), headers=headers))


def _lines(value: Any, key: str = "") -> Any:
    """An answer whose texts are one line each, so that none can pass for a line of ours; reasons keep theirs."""
    if isinstance(value, dict):
        return {name: _lines(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_lines(one, key) for one in value]
    return one_line(value) if isinstance(value, str) and key != "reason" else value


def pick(found: list[dict[str, Any]], name: str | None, what: str, key: str = "name") -> dict[str, Any]:
    """The one with this name, or the only one there is."""
    if name is not None:
        for one in found:
            if one[key].casefold() == name.casefold():
                return one
        raise BadInput(f"{what} {name!r}: no such; there are: {', '.join(one[key] for one in found) or 'none'}")
    if len(found) == 1:
        return found[0]
    if not found:
        raise BadInput(f"there is no {what} yet; make one on the site, or name one with --{what}")
    raise BadInput(f"which {what}? Name it with --{what}: {', '.join(one[key] for one in found)}")
