"""Forms, cookies, limits, headers, uploads: what keeps the site whole."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import threading
import zipfile
from contextlib import suppress
from types import SimpleNamespace

import httpx
import pytest

from bciarena.service import limits
from bciarena.service.accounts import first_operator
from bciarena.service.models import Account
from bciarena.service.refusals import Refused
from bciarena.service.settings import Settings
from tests.service.conftest import PASSWORD, Town, packed
from tests.service.test_flow import GOOD, team_with_entry


def test_passwords_are_argon2_and_the_key_is_private(sqlite_town):
    sqlite_town.person("ann")
    with sqlite_town.site.session(False) as session:
        assert session.get(Account, 1).password.startswith("$argon2id$")
    assert stat.S_IMODE(os.stat(sqlite_town.settings.home / "secret.key").st_mode) == 0o600
    assert Settings.at(sqlite_town.settings.home).secret == sqlite_town.settings.secret


def test_first_operator_is_made_once(sqlite_town):
    with sqlite_town.site.session(True) as session:
        name, password = first_operator(session)
        assert first_operator(session) is None
    person = sqlite_town.visitor()
    assert person.post("/login", {"name": name, "password": password}).status_code == 303
    assert person.get("/operate").status_code == 200


def test_cookie_is_signed_http_only_and_same_site(sqlite_town):
    person = sqlite_town.person("ann")
    answer = person.post("/login", {"name": "ann", "password": PASSWORD})
    said = answer.headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=lax" in said
    cookie = person.http.cookies["arena"]
    person.http.cookies.clear()
    for forged in (cookie[:-2] + "xx", "W10.x.y", "WzIsMCwieCJd" + cookie[12:], "", "é".encode().decode("latin1")):
        got = httpx.get(
            f"{sqlite_town.base}/account", headers={"cookie": f"arena={forged}".encode("latin1")}, trust_env=False
        )
        assert got.status_code == 303


def test_secure_cookie_behind_https(tmp_path):
    town = Town(tmp_path / "home", f"sqlite:///{tmp_path / 'a.db'}", https=True)
    answer = town.visitor().get("/login")
    assert "secure" in answer.headers["set-cookie"].lower()
    assert "max-age" in answer.headers["strict-transport-security"]
    town.close()


def test_a_form_needs_its_token(sqlite_town):
    ann, eve = sqlite_town.person("ann"), sqlite_town.person("eve")
    for token in ("", "0" * 64, eve.token(), "é" * 10):
        assert ann.http.post("/teams", data={"name": "Alpha", "token": token}).status_code == 403
    assert ann.post("/teams", {"name": "Alpha"}, headers={"origin": "https://elsewhere.example"}).status_code == 403
    assert ann.post("/teams", {"name": "Alpha"}, headers={"origin": sqlite_town.base}).status_code == 303
    assert ann.http.post("/logout").status_code == 403


def test_the_api_takes_no_cookie(sqlite_town):
    ann = sqlite_town.person("ann")
    assert ann.http.post("/api/v1/teams", json={"name": "Alpha"}).status_code == 401
    assert ann.http.get("/api/v1/me").status_code == 401


def test_next_leads_nowhere_else(sqlite_town):
    ann = sqlite_town.person("ann")
    for path in ("https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "javascript:alert(1)"):
        assert ann.post("/login", {"name": "ann", "password": PASSWORD, "next": path}).headers["location"] == "/"


def test_login_is_limited(town, monkeypatch):
    # A quarter of an hour that ends in the middle of the test would begin the count anew.
    monkeypatch.setattr(limits, "time", SimpleNamespace(time=lambda: 1000.0))
    town.person("ann")
    thief = town.visitor()
    wrong = [thief.post("/login", {"name": "ann", "password": "wrong"}).status_code for _ in range(12)]
    assert wrong == [401] * 10 + [429] * 2
    assert thief.post("/login", {"name": "ann", "password": PASSWORD}).status_code == 429
    other = town.person("bob")
    assert other.get("/account").status_code == 200


def test_limits_count_across_processes(town):
    limit = limits.Limit("test", 5, 3600)
    refused = []

    def use():
        with town.site.session(True) as session:
            try:
                limits.spend(session, limit, "somebody", now_s=1000.0)
            except Refused as no:
                refused.append(no.status)

    threads = [threading.Thread(target=use) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == [429] * 4
    with town.site.session(True) as session:
        limits.spend(session, limit, "somebody", now_s=4000.0)  # the next span begins anew


def test_headers_on_every_kind_of_answer(sqlite_town):
    visitor = sqlite_town.visitor()
    for path in ("/", "/nope", "/static/site.js", "/api/v1/contests", "/api/v1/me"):
        headers = visitor.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert visitor.get("/").headers["cache-control"] == "no-store"


def test_pages_hold_no_inline_scripts_or_styles(sqlite_town):
    import re

    ann = sqlite_town.person("ann", "operator")
    sqlite_town.contest()
    for path in ("/", "/login", "/account", "/teams", "/contests/spring", "/organise/new", "/operate", "/api/docs"):
        text = ann.get(path).text
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?://(?!127)", text), path


def small_town(tmp_path) -> Town:
    return Town(tmp_path / "home", f"sqlite:///{tmp_path / 'a.db'}", upload_limit=50_000)


def test_upload_stops_at_the_limit_while_streaming(tmp_path):
    town = small_town(tmp_path)
    ann = town.person("ann")
    _, entry = team_with_entry(ann)
    ann.api("GET", "/me")
    sent = 0

    def endless():
        nonlocal sent
        for _ in range(4000):
            sent += 10_000
            yield b"x" * 10_000

    with suppress(httpx.HTTPError):  # or the server closed the line in the middle of it, as it should
        assert ann.api("PUT", f"/entries/{entry}/versions", content=endless()).status_code == 413
    assert sent < 40_000_000
    big = {"package": ("big.zip", io.BytesIO(b"PK\x03\x04" + b"x" * 100_000))}
    with suppress(httpx.HTTPError):
        assert ann.post(f"/entries/{entry}/versions", files=big).status_code == 413
    assert ann.http.post("/login", content=b"a=" + b"x" * (2 << 20)).status_code == 413
    town.close()


def _zip(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def _tar(make) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        make(archive)
    return out.getvalue()


def _link(archive: tarfile.TarFile) -> None:
    info = tarfile.TarInfo("Algorithm/secret")
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    archive.addfile(info)


def _device(archive: tarfile.TarFile) -> None:
    info = tarfile.TarInfo("Algorithm/null")
    info.type, info.devmajor, info.devminor = tarfile.CHRTYPE, 1, 3
    archive.addfile(info)


UPLOADS = {
    "empty": b"",
    "no archive": b"hello",
    "cut zip": _zip(a=b"x" * 1000)[:60],
    "no class": _zip(**{"Algorithm/readme.txt": b"x"}),
    "zip slip": _zip(**{"../../etc/cron.d/x": b"x"}),
    "absolute path": _zip(**{"/etc/x": b"x"}),
    "symlink out": _tar(_link),
    "device file": _tar(_device),
    "bomb": gzip.compress(bytes(300 << 20)),
    "million files": _zip(**{f"Algorithm/{n}": b"" for n in range(10_050)}),
    "toml bomb": _zip(**{"entry.py": b"class Entry: pass", "config.toml": b"a=" + b"[" * 100_000}),
}


def test_bad_uploads_are_refused_in_one_line(sqlite_town, tmp_path, monkeypatch):
    import tempfile

    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))  # other tests use the common one meanwhile
    for name, content in UPLOADS.items():
        answer = ann.api("PUT", f"/entries/{entry}/versions", content=content)
        assert answer.status_code == 422, (name, answer.text)
        assert "\n" not in answer.json()["error"].strip(), name
        assert str(tmp_path) not in answer.json()["error"], name
        form = ann.post(f"/entries/{entry}/versions", files={"package": ("x.zip", io.BytesIO(content))})
        assert form.status_code == 422, name
    assert ann.api("GET", f"/entries/{entry}").json()["versions"] == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_file_names_are_only_shown(sqlite_town, tmp_path):
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    content = packed(tmp_path, GOOD).read_bytes()
    for name in ("../../../etc/passwd", "a\x01b<script>.zip", "x" * 190, "C:\\temp\\e.zip"):
        answer = ann.api("PUT", f"/entries/{entry}/versions", params={"filename": name}, content=content)
        assert answer.status_code == 201
        assert not set(answer.json()["filename"]) & {"/", "\\", "\x01"}
    assert "<script>.zip" not in ann.get(f"/entries/{entry}").text


def test_data_folders_only_below_the_roots(sqlite_town, tmp_path):
    olga = sqlite_town.person("olga", "organiser")
    sqlite_town.contest()
    outside = sqlite_town.settings.home / "data" / "out"
    outside.symlink_to("/etc")
    for folder in ("/etc", "../storage", "set/../..", "out", "nothing", "/", "set\x00"):
        phase = {"name": "a", "data": {"folder": folder}}
        body = {"slug": "evil", "title": "x", "rulebook": "imagery", "phase": [phase]}
        assert olga.api("POST", "/contests", json=body).status_code == 422, folder


def test_unboxed_site_takes_no_uploads(tmp_path):
    town = Town(tmp_path / "home", f"sqlite:///{tmp_path / 'a.db'}", boxed=False)
    ann = town.person("ann")
    _, entry = team_with_entry(ann)
    content = packed(tmp_path, GOOD).read_bytes()
    assert ann.api("PUT", f"/entries/{entry}/versions", content=content).json()["key"] == "refused.no_box"
    assert ann.post(f"/entries/{entry}/versions", files={"package": ("x.zip", io.BytesIO(content))}).status_code == 503
    assert "bubblewrap" in ann.get("/").text
    town.close()


@pytest.mark.parametrize(
    "content", [b"", b"token=%ff", b"\xff\xfe", b"name=" + b"a" * 5000, b"token=x&token=y&name=\x00"]
)
def test_malformed_forms_are_refused(sqlite_town, content):
    ann = sqlite_town.person("ann")
    kind = {"content-type": "application/x-www-form-urlencoded"}
    for path in (
        "/teams",
        "/login",
        "/account/password",
        "/organise/new",
        "/runs/1/rerun",
        "/teams/99999999999999999999",
    ):
        assert 400 <= ann.http.post(path, content=content, headers=kind).status_code < 500
        broken = ann.http.post(path, content=content, headers={"content-type": "multipart/form-data; boundary=x"})
        assert 400 <= broken.status_code < 500


def test_disabled_account_is_out_at_once(sqlite_town):
    ann, root = sqlite_town.person("ann"), sqlite_town.person("root", "operator")
    ann.api("GET", "/me")
    assert root.post("/operate/roles", {"name": "ann", "role": "contestant", "disabled": "1"}).status_code == 303
    assert ann.get("/account").status_code == 303
    assert ann.api("GET", "/me").status_code == 401
    assert root.post("/operate/roles", {"name": "root", "role": "contestant"}).status_code == 409
