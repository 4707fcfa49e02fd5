"""The only thing an installing box can reach: a package index that holds wheels and answers nothing but GET.

Behind it stand the index and the folders that pip on this machine is configured for, and the wheels imported for a
site without any. Credentials, certificates and addresses stay out here. A wheel can be fetched only by an address that
a list has named before, and is kept by its digest.
"""

from __future__ import annotations

import base64
import hashlib
import html
import http.server
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, Any

from packaging.utils import canonicalize_name

from bciarena.errors import BadInput, Fault
from bciarena.places import cache_folder

ASK_PIP = """
import json
from pip._internal.commands import create_command
said, _ = create_command("install").parse_args([])
names = "index_url extra_index_urls find_links no_index cert client_cert proxy trusted_hosts timeout".split()
print(json.dumps({name: getattr(said, name, None) for name in names}))
"""
MAX_PAGE = 64 << 20
MAX_WHEEL = 8 << 30
KEPT_BYTES = 20 << 30  # wheels used longest ago go first
BROKEN_OFF_S = 86400.0
TRIES = 3
CHUNK = 1 << 18
LARGE = 10 << 20  # bytes: worth saying
TELL_S = 5.0
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,250}")


@dataclass(frozen=True)
class File:
    """A file that an index offers."""

    name: str
    url: str
    sha256: str = ""
    requires: str = ""
    yanked: bool = False


@dataclass(frozen=True)
class Settings:
    """What pip on this machine would use."""

    indexes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    cert: str = ""
    client_cert: str = ""
    proxy: str = ""
    trusted: tuple[str, ...] = ()
    timeout_s: float = 60.0


def pips_settings(executable: Path) -> Settings:
    """Ask a base Python's own pip; nothing that an entry says is part of the question."""
    return _asked(executable, tuple(sorted(item for item in os.environ.items() if item[0].startswith("PIP_"))))


@lru_cache(maxsize=16)
def _asked(executable: Path, variables: tuple[tuple[str, str], ...]) -> Settings:
    try:
        done = subprocess.run([executable, "-I", "-c", ASK_PIP], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"{executable}: cannot be started ({error})") from error
    if "No module named 'pip" in done.stderr:
        raise BadInput(
            f"{executable} has no pip; give it one with: {executable} -m ensurepip (Debian: apt install python3-pip)"
        )
    if done.returncode:
        raise Fault(f"pip of {executable} does not tell its settings: {done.stderr.strip()[-200:]}")
    said: dict[str, Any] = json.loads(done.stdout)
    indexes = [] if said["no_index"] else [said["index_url"], *(said["extra_index_urls"] or [])]
    return Settings(
        tuple(filter(None, indexes)),
        tuple(said["find_links"] or []),
        said["cert"] or "",
        said["client_cert"] or "",
        said["proxy"] or "",
        tuple(said["trusted_hosts"] or []),
        float(said["timeout"] or 60),
    )


def wheelhouse() -> Path:
    """Wheels that ``arena env import`` brought: they count as part of every index."""
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "bciarena" / "wheelhouse"


class Index:
    """Lists and fetches packages; ``trouble`` says what went wrong on our side."""

    def __init__(self, settings: Settings, on_progress: Callable[[str], None] = lambda text: None) -> None:
        self.settings = settings
        self.trouble = ""
        self._say = on_progress
        self._lists: dict[str, list[File]] = {}
        self._offered: dict[str, File] = {}
        self._away: dict[str, Fault] = {}
        self._lock = threading.Lock()

    def files(self, project: str) -> list[File]:
        """All files of a project, wheels or not, in the order of the indexes."""
        name = canonicalize_name(project)
        with self._lock:
            if name in self._lists:
                return self._lists[name]
        ours = _in_folder(wheelhouse(), name)
        found = list(ours)
        for place in self.settings.links:
            found += self._links(place, name)
        for index in self.settings.indexes:
            if index in self._away:
                if not ours:
                    raise self._away[index]
                continue
            try:
                found += self._page(f"{index.rstrip('/')}/{name}/", name)
            except Fault as error:
                if not ours:
                    raise
                self._away[index] = error  # each try takes seconds
                self._say(f"{error}; going on with the wheels imported here")
        best: dict[str, File] = {}
        for file in found:
            best.setdefault(file.name, file)
        with self._lock:
            self._lists[name] = list(best.values())
            for file in best.values():
                self._offered[_token(file)] = file
        return self._lists[name]

    def wheel(self, token: str) -> Path:
        """A wheel that was offered, on this disk."""
        file = self._offered[token]
        url = urllib.parse.urlsplit(file.url)
        if url.scheme == "file":
            return Path(urllib.request.url2pathname(url.path))
        kept = cache_folder() / "wheels" / file.sha256 / file.name
        if file.sha256 and kept.is_file():
            os.utime(kept)
            return kept
        folder = _made(cache_folder() / "wheels")
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder))
        try:
            with self._open(file.url) as source, open(part / file.name, "wb") as target:
                digest, size, told = hashlib.sha256(), 0, time.monotonic()
                whole = int(source.headers.get("Content-Length") or 0)  # type: ignore[attr-defined]
                self._say(f"fetching {file.name}{f' ({whole >> 20} MiB)' * (whole >= LARGE)}")
                while raw := source.read(CHUNK):
                    size += len(raw)
                    if whole and time.monotonic() - told > TELL_S:
                        told = time.monotonic()
                        self._say(f"fetching {file.name}: {100 * size // whole} %")
                    if size > MAX_WHEEL:
                        raise Fault(f"{file.name}: is larger than {MAX_WHEEL >> 30} GiB")
                    digest.update(raw)
                    target.write(raw)
            if file.sha256 not in ("", digest.hexdigest()):
                raise Fault(f"{file.name}: its digest is not the one that the index lists")
            place = folder / digest.hexdigest()
            if not place.is_dir():
                os.chmod(part, 0o755)
                part.rename(place)
            return place / file.name
        except (OSError, urllib.error.URLError) as error:
            raise Fault(f"{file.name}: cannot be fetched ({error})") from error
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def page_for_box(self, project: str) -> bytes:
        """The list a box sees: wheels alone, by addresses of this server."""
        lines = ["<!DOCTYPE html><html><body>"]
        for file in self.files(project):
            if not file.name.endswith(".whl"):
                continue
            mark = f"#sha256={file.sha256}" if file.sha256 else ""
            more = f' data-requires-python="{html.escape(file.requires)}"' if file.requires else ""
            more += ' data-yanked=""' if file.yanked else ""
            lines.append(f'<a href="/file/{_token(file)}/{urllib.parse.quote(file.name)}{mark}"{more}>{file.name}</a>')
        return "\n".join([*lines, "</body></html>"]).encode()

    def _links(self, place: str, name: str) -> list[File]:
        if place.startswith(("http://", "https://")):
            return self._page(place, name)
        return _in_folder(Path(urllib.request.url2pathname(place.removeprefix("file://"))), name)

    def _page(self, url: str, name: str) -> list[File]:
        split = urllib.parse.urlsplit(url)
        if split.scheme == "file":
            path = Path(urllib.request.url2pathname(split.path)) / "index.html"
            return _parsed(path.read_bytes(), path.as_uri(), name) if path.is_file() else []
        try:
            with self._open(url, "application/vnd.pypi.simple.v1+json, text/html;q=0.5") as source:
                raw = source.read(MAX_PAGE)
                kind = source.headers.get("Content-Type", "")  # type: ignore[attr-defined]
                at = source.geturl()  # type: ignore[attr-defined]
        except urllib.error.HTTPError as error:
            if error.code in (404, 403, 410):
                return []
            raise Fault(f"the package index answers {error.code} for {name}") from error
        except (OSError, urllib.error.URLError) as error:
            reason = getattr(error, "reason", error)
            raise Fault(f"the package index cannot be reached ({reason}); try again later, or import wheels") from error
        return read_page(raw, kind, at, name)

    def _open(self, url: str, accept: str = "*/*") -> IO[bytes]:
        split = urllib.parse.urlsplit(url)
        headers = {"Accept": accept, "User-Agent": "bciarena"}
        for index in (url, *self.settings.indexes):
            its = urllib.parse.urlsplit(index)
            if its.username and its.hostname == split.hostname:
                pair = f"{urllib.parse.unquote(its.username)}:{urllib.parse.unquote(its.password or '')}"
                headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        bare = split._replace(netloc=split.netloc.rpartition("@")[2])
        request = urllib.request.Request(urllib.parse.urlunsplit(bare), headers=headers)
        for left in reversed(range(TRIES)):
            try:
                opened: IO[bytes] = self._opener(split.hostname or "").open(request, timeout=self.settings.timeout_s)
                return opened
            except urllib.error.HTTPError as error:
                if error.code < 500 or not left:
                    raise
            except (OSError, urllib.error.URLError):
                if not left:
                    raise
            time.sleep(0.5)
        raise AssertionError("unreachable")

    def _opener(self, host: str) -> urllib.request.OpenerDirector:
        context = ssl.create_default_context(cafile=self.settings.cert or None)
        if any(host == trusted.partition(":")[0] for trusted in self.settings.trusted):
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if self.settings.client_cert:
            context.load_cert_chain(self.settings.client_cert)
        handlers: list[urllib.request.BaseHandler] = [urllib.request.HTTPSHandler(context=context)]
        if self.settings.proxy:
            handlers.append(urllib.request.ProxyHandler({"http": self.settings.proxy, "https": self.settings.proxy}))
        return urllib.request.build_opener(*handlers)


class Server(http.server.ThreadingHTTPServer):
    """Answers on a socket that was made inside a box, so that it exists in the box's empty network alone."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, index: Index) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.index = index


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 600
    server: Server

    def do_GET(self) -> None:
        parts = self.path.split("/")[1:]
        try:
            if len(parts) == 3 and parts[0] == "simple" and FILE_NAME.fullmatch(parts[1]) and not parts[2]:
                self._answer(self.server.index.page_for_box(parts[1]), "text/html")
            elif len(parts) == 3 and parts[0] == "file":
                self._send(self.server.index.wheel(parts[1]))
            else:
                self.send_error(404)
        except KeyError:
            self.send_error(404)
        except (Fault, OSError) as error:
            if not isinstance(error, (BrokenPipeError, ConnectionResetError)):
                self.server.index.trouble = self.server.index.trouble or str(error)
                self.send_error(503)

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send(self, path: Path) -> None:
        with open(path, "rb") as file:
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(os.fstat(file.fileno()).st_size))
            self.end_headers()
            shutil.copyfileobj(file, self.wfile, CHUNK)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the index itself reports what matters."""


def _token(file: File) -> str:
    return hashlib.sha256(file.url.encode()).hexdigest()[:32]


def _is_of(filename: str, name: str) -> bool:
    if not FILE_NAME.fullmatch(filename) or not filename.endswith((".whl", ".tar.gz", ".zip", ".tar.bz2")):
        return False
    if filename.endswith(".whl"):
        return canonicalize_name(filename.partition("-")[0]) == name
    return canonicalize_name(filename).startswith(f"{name}-")


def _in_folder(folder: Path, name: str) -> list[File]:
    if not folder.is_dir():
        return []
    return [File(path.name, path.resolve().as_uri()) for path in sorted(folder.iterdir()) if _is_of(path.name, name)]


def read_page(raw: bytes, kind: str, at: str, name: str) -> list[File]:
    """The files of a project that an index lists at an address."""
    try:
        return _from_json(raw, at, name) if "json" in kind else _parsed(raw, at, name)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, AssertionError) as error:
        raise Fault(f"the package index answers for {name} with a list that cannot be read ({error!r:.200})") from error


def _from_json(raw: bytes, at: str, name: str) -> list[File]:
    found = []
    for item in json.loads(raw)["files"]:
        if _is_of(item["filename"], name):
            url = urllib.parse.urljoin(at, item["url"]).partition("#")[0]
            digest = item.get("hashes", {}).get("sha256", "")
            found.append(
                File(item["filename"], url, digest, item.get("requires-python") or "", bool(item.get("yanked")))
            )
    return found


def _parsed(raw: bytes, at: str, name: str) -> list[File]:
    page = _Links()
    page.feed(raw.decode("utf-8", "replace"))
    found = []
    for link in page.found:
        url, _, mark = urllib.parse.urljoin(at, link.get("href") or "").partition("#")
        filename = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
        digest = re.fullmatch(r"sha256=([0-9a-f]{64})", mark)
        if _is_of(filename, name):
            requires = link.get("data-requires-python") or ""
            found.append(File(filename, url, digest[1] if digest else "", requires, "data-yanked" in link))
    return found


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append(dict(attrs))


def keep_wheels(folder: Path, digests: dict[str, str]) -> None:
    """Keep wheels by their digests: the next environment with the same ones fetches nothing."""
    for name, digest in digests.items():
        place = cache_folder() / "wheels" / digest
        if not place.is_dir() and (folder / name).is_file():
            part = Path(tempfile.mkdtemp(prefix=".part-", dir=_made(place.parent)))
            (folder / name).rename(part / name)
            os.chmod(part, 0o755)
            part.rename(place)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def prune() -> None:
    """Remove the wheels used longest ago, where too many are kept, and downloads that were broken off."""
    for part in (cache_folder() / "wheels").glob(".part-*"):
        if part.stat().st_mtime < time.time() - BROKEN_OFF_S:
            shutil.rmtree(part, ignore_errors=True)
    kept = sorted((cache_folder() / "wheels").glob("*/*.whl"), key=lambda path: -path.stat().st_mtime)
    total = 0
    for path in kept:
        total += path.stat().st_size
        if total > KEPT_BYTES:
            shutil.rmtree(path.parent, ignore_errors=True)
