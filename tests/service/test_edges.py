"""The site's edges: addresses, bodies, numbers, hosts, methods, folders, room."""

from __future__ import annotations

import io
import os
import re
import socket
import stat
import tempfile
import zipfile
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from sqlalchemy import select

from bciarena.service import limits, uploads
from bciarena.service.models import Account, Phase, Version
from bciarena.service.pages.roles import addresses
from bciarena.service.settings import Settings
from bciarena.service.site import address_of
from tests.service.conftest import Town, packed, write_imagery
from tests.service.test_flow import GOOD, submit, team_with_entry, upload


@pytest.fixture
def still(monkeypatch):
    """A span of a rate limit that does not end in the middle of a test."""
    monkeypatch.setattr(limits, "time", SimpleNamespace(time=lambda: 1000.0))


# -------------------------------------------------------------------- who asks


def test_forwarded_addresses_do_not_widen_a_limit(sqlite_town, still):
    sqlite_town.person("ann")
    thief = sqlite_town.visitor()
    codes = [
        thief.post("/login", {"name": "ann", "password": "x"}, headers={"x-forwarded-for": f"10.0.0.{n}"}).status_code
        for n in range(12)
    ]
    assert codes == [401] * 10 + [429] * 2


def asked(peer: str, forwarded: list[str], proxies: list[str]) -> str:
    headers = httpx.Headers([("x-forwarded-for", value) for value in forwarded])
    site = SimpleNamespace(settings=SimpleNamespace(proxies=tuple(map(ip_network, proxies))))
    listed = SimpleNamespace(getlist=lambda name: headers.get_list(name))
    state = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(site=site)))
    return address_of(SimpleNamespace(client=SimpleNamespace(host=peer), headers=listed, app=state.app))


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "is_from"),
    [
        ("9.9.9.9", ["1.1.1.1"], [], "9.9.9.9"),
        ("9.9.9.9", ["1.1.1.1"], ["10.0.0.0/8"], "9.9.9.9"),  # somebody beside the proxy
        ("10.0.0.1", ["1.1.1.1"], ["10.0.0.0/8"], "1.1.1.1"),
        ("10.0.0.1", ["6.6.6.6, 1.1.1.1"], ["10.0.0.0/8"], "1.1.1.1"),  # the first one is the client's invention
        ("10.0.0.1", ["6.6.6.6", "1.1.1.1"], ["10.0.0.0/8"], "1.1.1.1"),  # the same in two lines
        ("10.0.0.1", ["6.6.6.6, 1.1.1.1, 10.0.0.2"], ["10.0.0.0/8"], "1.1.1.1"),  # two proxies of ours
        ("10.0.0.1", ["6.6.6.6, nonsense"], ["10.0.0.0/8"], "10.0.0.1"),
        ("10.0.0.1", [], ["10.0.0.0/8"], "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", [], [], "2001:db8:1:2::/64"),  # one client has them all
        ("::ffff:10.0.0.1", ["1.1.1.1"], ["10.0.0.0/8"], "1.1.1.1"),
    ],
)
def test_only_proxies_of_ours_are_believed(peer, forwarded, proxies, is_from):
    assert asked(peer, forwarded, proxies) == is_from


# -------------------------------------------------------------------- bodies


def post_slowly(town: Town, path: str, size: int, cookie: str = "") -> tuple[bytes, int]:
    """Send a large upload by hand; what came back, and how much was sent before it did."""
    host, port = town.base.removeprefix("http://").split(":")
    start = (
        b'--b\r\ncontent-disposition: form-data; name="package"; filename="x.zip"\r\n\r\n' if "api" not in path else b""
    )
    head = f"POST {path} HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-length: {size}\r\n{cookie}"
    head += "content-type: multipart/form-data; boundary=b\r\n\r\n"
    sent = 0
    with socket.create_connection((host, int(port)), 20) as line:
        line.sendall(head.encode() + start)
        try:
            while sent < size:
                line.sendall(b"x" * 65536)
                sent += 65536
                line.settimeout(0.01)
                try:
                    return line.recv(4096), sent
                except TimeoutError:
                    line.settimeout(20)
            return line.recv(4096), sent
        except (ConnectionResetError, BrokenPipeError):
            return b"", sent


def test_an_upload_nobody_may_make_is_not_read(sqlite_town, tmp_path, monkeypatch):
    """200 MB by a visitor, by somebody whose entry it is not, from no page of ours: refused before the body is read."""
    ann, eve = sqlite_town.person("ann"), sqlite_town.person("eve")
    _, entry = team_with_entry(ann)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    rolled = []
    monkeypatch.setattr(tempfile.SpooledTemporaryFile, "rollover", lambda self: rolled.append(1))
    stranger, member = (f"cookie: arena={one.http.cookies['arena']}\r\n" for one in (eve, ann))
    for cookie, code in (("", b"303"), (stranger, b"404"), (member, b"403")):
        said, sent = post_slowly(sqlite_town, f"/entries/{entry}/versions", 200 << 20, cookie)
        assert said.split(b" ")[1] == code
        assert sent < 50 << 20
    for path in ("/teams", "/organise/new", "/runs/1/rerun", "/operate/roles"):  # bounded, and not read either
        said, sent = post_slowly(sqlite_town, path, 900_000)
        assert said.split(b" ")[1] == b"303", path
    assert rolled == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_too_large_is_told_as_promised(tmp_path):
    town = Town(tmp_path / "home", f"sqlite:///{tmp_path / 'a.db'}", upload_limit=3 << 20)
    ann = town.person("ann")
    ann.api("GET", "/me")
    header = {"authorization": f"Bearer {ann.bearer}"}

    def pieces():
        for _ in range(40):
            yield b" " * 65536

    for body in (b" " * (2 << 20), pieces()):
        answer = ann.http.post("/api/v1/teams", content=body, headers={**header, "content-type": "application/json"})
        assert answer.status_code == 413
        assert answer.json() == {"error": "Too large: at most 1 MiB are taken here.", "key": "refused.too_large"}
    page = ann.http.post("/login", content=b"x" * (2 << 20), headers={"accept-language": "zh"})
    assert (page.status_code, page.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "最多 1 MiB" in page.text
    town.close()


# -------------------------------------------------------------------- numbers


HUGE = ("99999999999999999999", str(2**63), "9" * 5000, "0", "-1", "1.5", "١", "%00", "1e9")


def test_no_number_in_an_address_breaks_a_page(sqlite_town):
    root = sqlite_town.person("root", "operator")
    root.api("GET", "/me")
    bearer = {"authorization": f"Bearer {root.bearer}", "accept": "application/json"}
    seen = 0
    for one in addresses():
        for number in HUGE if re.search(r"\{\w+_id\}", one.path) else ():
            path = re.sub(r"\{\w+_id\}", number, one.path)
            if len(path) > 5000 and one.method != "GET":
                continue
            answer = root.http.request(one.method, path, headers=bearer if "/api/" in path else None)
            assert answer.status_code in (404, 403, 401, 422), (one, number, answer.status_code)
            assert answer.status_code != 422 or one.method in ("POST", "PUT"), (one, number)
            seen += 1
    assert seen > 100


@pytest.mark.parametrize("number", ["9" * 5000, "0", "-3", "²", "١", "", "1e5", "x"])
def test_no_page_number_breaks_a_board(sqlite_town, number):
    sqlite_town.contest()
    assert sqlite_town.visitor().get("/contests/spring/board", params={"page": number}).status_code == 200


MOMENTS = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59", "9999-12-31T23:59:59-14:00", "1969-12-31T00:00", "nonsense"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_no_date_breaks_a_page(sqlite_town, moment):
    sqlite_town.contest()
    olga = sqlite_town.person("olga")
    fields = {"counts": "best", "board": "public", "limit": "5", "starts": moment, "ends": ""}
    assert olga.post("/organise/spring/preliminary", fields).status_code == 422
    phase = {"name": "a", "starts": moment, "data": {"simulate": {}}}
    body = {"slug": "late", "title": "x", "rulebook": "imagery", "phase": [phase]}
    assert olga.api("POST", "/contests", json=body).status_code == 422
    assert olga.get("/contests/spring").status_code == 200
    assert olga.get("/organise/spring").status_code == 200


@pytest.mark.parametrize(
    "toml", ["a=" + "[" * 20_000, "a = " + "9" * 6000, "[" * 30_000, "a." * 10_000 + "b=1", "\x00"]
)
def test_no_toml_breaks_the_form(sqlite_town, toml):
    olga = sqlite_town.person("olga", "organiser")
    assert olga.post("/organise/toml", {"toml": toml}).status_code == 422


@pytest.mark.parametrize("depth", [50, 400, 900, 5000])
def test_no_nesting_breaks_a_call(sqlite_town, depth):
    olga = sqlite_town.person("olga", "organiser")
    for start, end in (('{"a":', "}"), ('{"phase":[', "]}")):
        content = (start * depth + "1" + end * depth).encode()
        answer = olga.api("POST", "/contests", content=content)
        assert answer.status_code in (400, 422), answer.text[:200]


# -------------------------------------------------------------------- hosts, methods, waiting


def test_the_host_header_gets_into_no_link(sqlite_town):
    ann = sqlite_town.person("ann")
    team, _ = team_with_entry(ann)
    evil = {"host": "evil.example", "x-forwarded-host": "evil.example"}
    page = ann.http.post(f"/teams/{team}/invite", data={"token": ann.token()}, headers=evil)
    assert re.search(r'class="secret" data-path>/join/arena_', page.text)
    for path in ("/", "/teams/", f"/teams/{team}/", "/login/", "/api/v1/contests/", "/static/"):
        answer = ann.get(path, headers=evil)
        assert "evil" not in answer.text + str(answer.headers), path


def test_links_bear_the_address_that_was_configured(tmp_path):
    town = Town(tmp_path / "home", f"sqlite:///{tmp_path / 'a.db'}", url="https://arena.example")
    ann = town.person("ann")
    team, _ = team_with_entry(ann)
    assert "https://arena.example/join/arena_" in ann.post(f"/teams/{team}/invite").text
    town.close()


def test_head_is_get_without_the_body(sqlite_town):
    sqlite_town.contest()
    root = sqlite_town.person("root", "operator")
    paths = ["/static/site.js", "/api/openapi.json"]
    for one in addresses():
        if one.method == "GET":
            path = (
                one.path.replace("{slug}", "spring").replace("{phase}", "preliminary").replace("{name}", "preliminary")
            )
            paths.append(path.replace("{chosen}", "en").replace("{code}", "x"))
    for path in [path for path in paths if "{" not in path]:
        whole, head = root.http.get(path), root.http.head(path)
        assert head.status_code == whole.status_code, path
        assert head.content == b""
        assert head.headers["content-type"] == whole.headers["content-type"] if whole.content else True, path
    assert root.http.head("/nope").status_code == 404


def test_too_often_says_when_to_come_back(sqlite_town, still, tmp_path):
    sqlite_town.contest(daily_limit=1)
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", GOOD))
    submit(ann, entry, version)
    for answer in (
        ann.post(f"/entries/{entry}/submit", {"version": str(version), "phase": "1"}),
        ann.api("POST", "/submissions", json={"version_id": version, "contest": "spring"}),
    ):
        assert answer.status_code == 429
        assert 0 < int(answer.headers["retry-after"]) <= 86400
    thief = sqlite_town.visitor()
    for _ in range(11):
        page = thief.post("/login", {"name": "ann", "password": "wrong"})
    call = thief.http.post("/api/v1/token", json={"name": "ann", "password": "wrong"})
    for answer in (page, call):
        assert answer.status_code == 429
        assert answer.headers["retry-after"] == "801"  # of the 900 s from 900 on, at 1000


# -------------------------------------------------------------------- what is hidden, and whose it is


def test_a_hidden_board_does_not_tell_that_it_changes(sqlite_town):
    sqlite_town.contest(board="hidden")
    olga = sqlite_town.person("olga")
    for person in (sqlite_town.visitor(), sqlite_town.person("ann"), sqlite_town.person("rival", "organiser")):
        assert person.get("/contests/spring/preliminary/revision").status_code == 404
        assert "data-revision" not in person.get("/contests/spring/board").text
    assert olga.get("/contests/spring/preliminary/revision").json() == {"revision": 1}
    assert 'data-revision="1"' in olga.get("/contests/spring/board").text


def test_organisers_choose_only_their_own_data_folders(sqlite_town):
    town = sqlite_town
    data = town.settings.home / "data"
    write_imagery(data / "olga" / "secret", 1, 1)
    write_imagery(data / "rival" / "mine", 1, 1)
    (data / "rival" / "link").symlink_to(data / "olga" / "secret")
    olga, rival, root = (
        town.person("olga", "organiser"),
        town.person("rival", "organiser"),
        town.person("root", "operator"),
    )

    def create(person, folder, slug):
        phase = {"name": "a", "data": {"folder": folder}}
        body = {"slug": slug, "title": "x", "rulebook": "imagery", "phase": [phase]}
        return person.api("POST", "/contests", json=body).status_code

    for folder in (
        "olga/secret",
        "rival/link",
        "rival/../olga/secret",
        str(data / "olga" / "secret"),
        "rival",
        ".",
        "",
    ):
        assert create(rival, folder, "stolen") == 422, folder
    assert create(rival, "rival/mine", "own") == 201
    assert create(olga, "olga/secret", "hers") == 201
    assert create(root, "olga/secret", "all") == 201
    assert "olga" not in rival.get("/organise/new").text.replace(town.settings.home.name, "")
    assert "rival/mine" in rival.get("/organise/new").text
    assert "olga/secret" in root.get("/organise/new").text


def big_zip(size: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("entry.py", GOOD)
        archive.writestr("config.toml", 'entry = "entry.py:Entry"\n')
        archive.writestr("weights.bin", bytes(size))
    return out.getvalue()


def test_a_folder_named_by_a_visitor_is_no_contest(sqlite_town):
    """Its rules.py would run on the site's machine."""
    with tempfile.TemporaryDirectory(prefix="c", dir="/tmp") as folder:  # short: names of rulebooks are
        Path(folder, "rules.py").write_text(f"open({folder + '/ran'!r}, 'w')")
        ann, olga = sqlite_town.person("ann"), sqlite_town.person("olga", "organiser")
        team = ann.api("POST", "/teams", json={"name": "Ours"}).json()["id"]
        phase = {"name": "one", "data": {"simulate": {"subjects": 1, "blocks": 1}}}
        spec = {"slug": "spring", "title": "Spring", "rulebook": "imagery", "phase": [phase]}
        assert olga.api("POST", "/contests", json=spec).status_code == 201
        for person, path, body in (
            (ann, f"/teams/{team}/entries", {"name": "mine", "challenge": folder}),
            (olga, "/contests", spec | {"slug": "summer", "rulebook": folder}),
            (olga, "/contests/spring/rulebook", {"rulebook": folder}),
        ):
            assert person.api("POST", path, json=body).status_code == 422
        assert not Path(folder, "ran").exists()


def test_a_team_has_so_much_room_and_no_more(tmp_path, database_url):
    town = Town(tmp_path / "home", database_url, team_bytes=5_000_000)
    ann = town.person("ann")
    team, entry = team_with_entry(ann)
    other = ann.api("POST", f"/teams/{team}/entries", json={"name": "second", "challenge": "imagery"}).json()["id"]
    small = big_zip(2_000_000)
    assert len(small) < 10_000  # what is sent says little about what it becomes

    def send(where: int):
        return ann.api("PUT", f"/entries/{where}/versions", content=small)

    first = send(entry)
    assert first.status_code == 201
    assert send(other).status_code == 201
    full = send(other)
    assert (full.status_code, full.json()["key"]) == (409, "refused.team_bytes")
    form = ann.post(f"/entries/{entry}/versions", files={"package": ("x.zip", io.BytesIO(small))})
    assert form.status_code == 409
    with town.site.session(False) as session:
        held = session.scalars(select(Version.unpacked)).all()
        account = session.scalar(select(Account).where(Account.name == "ann"))
        assert uploads.used_bytes(session, team, account) == sum(held) > 4_000_000
    assert "4.0 MB" in ann.get(f"/entries/{entry}").text
    assert town.person("eve").api("DELETE", f"/versions/{first.json()['id']}").status_code == 404
    assert ann.api("DELETE", f"/versions/{first.json()['id']}").status_code == 204
    assert send(other).status_code == 201
    # Nor is there more in the next team of those who dissolve one: what it took part with is kept.
    town.contest()
    version = ann.api("GET", f"/entries/{other}").json()["versions"][0]["id"]
    assert ann.api("POST", "/submissions", json={"version_id": version, "contest": "spring"}).status_code == 201
    assert ann.post(f"/teams/{team}/dissolve", {}).status_code == 303
    _, again = team_with_entry(ann, "Again")
    assert send(again).json()["key"] == "refused.team_bytes"
    town.close()


def test_an_organiser_orders_so_many_simulated_blocks_and_no_more(sqlite_town):
    """Ten phases of a hundred people would fill the disk and keep the keeper busy for days."""
    olga, root = sqlite_town.person("olga", "organiser"), sqlite_town.person("root", "operator")

    def spec(slug: str, *subjects: int) -> dict:
        phases = [
            {"name": f"p{k}", "data": {"simulate": {"subjects": n, "blocks": 20}}} for k, n in enumerate(subjects)
        ]
        return {"slug": slug, "title": slug, "rulebook": "rehab", "phase": phases}

    def made(person, body: dict) -> tuple[int, str]:
        said = person.api("POST", "/contests", json=body)
        return said.status_code, said.json().get("key", "")

    assert made(olga, spec("huge", *[100] * 10)) == (422, "refused.simulated")
    assert made(olga, spec("one", 10, 5)) == (201, "")
    assert made(olga, spec("two", 6)) == (422, "refused.simulated")
    more = {"subjects3": "11", "blocks3": "20"}
    assert olga.post("/organise/one/phases", {"name3": "more", **more}).status_code == 422
    assert olga.post("/organise/one/p1/data", more).status_code == 422
    assert [one["slug"] for one in olga.api("GET", "/contests").json()] == ["one"]
    assert made(root, spec("three", 21)) == (201, "")


def test_a_version_that_was_submitted_stays(sqlite_town, tmp_path):
    sqlite_town.contest()
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", GOOD))
    submit(ann, entry, version)
    assert ann.post(f"/entries/{entry}/versions/{version}/remove").status_code == 409
    spare = upload(ann, entry, packed(tmp_path / "q", GOOD))
    assert ann.post(f"/entries/{entry}/versions/{spare}/remove").status_code == 303
    assert len(ann.api("GET", f"/entries/{entry}").json()["versions"]) == 1


def mode(path: Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_a_home_is_for_its_user_alone(tmp_path):
    old = tmp_path / "old"  # as older versions left it
    for name in ("data", "storage", "reports"):
        (old / name).mkdir(parents=True)
        (old / name).chmod(0o755)
    (old / "arena.db").touch(0o644)
    old.chmod(0o755)
    for home in (old, tmp_path / "new"):
        town = Town(home, f"sqlite:///{home / 'arena.db'}")
        town.contest()
        assert mode(home) == 0o700
        assert mode(home / "secret.key") == 0o600
        for file in home.glob("arena.db*"):
            assert mode(file) == 0o600, file
        town.close()
    for name in ("data", "storage", "reports"):
        assert mode(old / name) == 0o700
    assert Settings.at(old).home == old


def test_an_address_can_ask_for_a_language(sqlite_town):
    """A link that says ?lang=zh is read in Chinese by whoever follows it, and so is the page after it."""
    sqlite_town.contest()
    visitor = sqlite_town.visitor()
    visitor.http.headers["accept-language"] = "en"

    def language(path: str) -> str:
        return visitor.get(path).text.split('<html lang="')[1].split('"')[0]

    assert language("/contests/spring?lang=xx") == "en"
    assert dict(visitor.http.cookies) == {}
    assert language("/nowhere?lang=zh") == "zh-CN"
    assert language("/contests/spring?lang=zh") == "zh-CN"
    assert language("/contests/spring") == "zh-CN"
    assert language("/?lang=en") == "en"


def test_a_phase_needs_no_revision_to_be_asked(sqlite_town):
    """The revision is a counter of the database's row; pages of visitors show none of a hidden phase."""
    sqlite_town.contest(board="hidden")
    with sqlite_town.site.session(True) as session:
        session.get_one(Phase, 1).revision = 4711
        session.commit()
    for path in ("/", "/contests/spring", "/api/v1/contests/spring", "/api/v1/contests"):
        assert "4711" not in sqlite_town.visitor().get(path).text
