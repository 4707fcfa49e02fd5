"""Who may see and do what, asked as every role at every address; and hidden labels, which nobody may reach."""

from __future__ import annotations

import re

import pytest
from fastapi.routing import APIRoute

from bciarena.service.models import Team
from bciarena.service.pages.roles import addresses
from bciarena.service.rights import NO, RIGHTS
from tests.service.conftest import packed
from tests.service.test_flow import POOR, submit, team_with_entry, upload

ROLES = ("visitor", "stranger", "member", "rival", "owner", "operator")
SEEN = {  # statuses in the order of ROLES; 303: sent to the sign-in page; 404: there is no such thing for you
    "/": (200,) * 6,
    "/contests/spring": (200,) * 6,
    "/contests/spring/preliminary": (200,) * 6,
    "/contests/spring/preliminary/revision": (200,) * 6,
    "/contests/spring/preliminary/stage": (404,) * 6,  # there is none; with one: tests/service/test_stage.py
    "/contests/spring/preliminary/stage/state": (404,) * 6,
    "/contests/spring/preliminary/stage/run/0": (404,) * 6,
    "/contests/spring/preliminary/stage/seals.json": (404,) * 6,
    "/contests/spring/game": (404,) * 6,  # this contest has none
    "/contests/spring/game.js": (404,) * 6,
    "/contests/spring/game/round": (404,) * 6,
    "/organise/spring/preliminary/stage": (303, 403, 403, 403, 200, 200),
    "/contests/spring/rules": (200,) * 6,
    "/contests/spring/data": (200,) * 6,
    "/contests/spring/start": (200,) * 6,
    "/contests/spring/board": (200,) * 6,
    "/contests/spring/score": (200,) * 6,
    "/contests/spring/questions": (200,) * 6,
    "/contests/spring/companion.zip": (200,) * 6,
    "/contests/spring/SHA256SUMS": (200,) * 6,
    "/contests/spring/downloads/nonsense": (404,) * 6,
    "/contests/spring/join": (303, 200, 200, 200, 200, 200),
    "/inbox": (303, 200, 200, 200, 200, 200),
    "/forgot": (200,) * 6,
    "/reset/nonsense": (404,) * 6,
    "/account/email/nonsense": (303, 404, 404, 404, 404, 404),
    "/runs/1/package": (303, 404, 200, 404, 200, 200),
    "/runs/1/logs/nonsense": (303, 404, 404, 404, 404, 404),
    "/organise/spring/edit": (303, 403, 403, 403, 200, 200),
    "/login": (200,) * 6,
    "/signup": (200,) * 6,
    "/api/docs": (200,) * 6,
    "/account": (303, 200, 200, 200, 200, 200),
    "/teams": (303, 200, 200, 200, 200, 200),
    "/teams/1": (303, 404, 200, 404, 404, 200),
    "/entries/1": (303, 404, 200, 404, 404, 404),
    "/runs/1": (303, 404, 200, 404, 200, 200),
    "/runs/1/state": (303, 404, 200, 404, 200, 200),
    "/runs/1/ledger": (303, 404, 200, 404, 200, 200),
    "/runs/1/score.json": (303, 404, 404, 404, 200, 200),
    "/runs/1/report": (303, 404, 404, 404, 200, 200),
    "/organise": (303, 403, 403, 200, 200, 200),
    "/organise/new": (303, 403, 403, 200, 200, 200),
    "/organise/spring": (303, 403, 403, 403, 200, 200),
    "/organise/spring/preliminary.csv": (303, 403, 403, 403, 200, 200),
    "/organise/spring/preliminary/jury": (303, 403, 403, 403, 200, 200),
    "/organise/spring/preliminary/jury.csv": (303, 403, 403, 403, 200, 200),
    "/operate": (303, 403, 403, 403, 403, 200),
    "/join/nonsense": (404,) * 6,
    "/roles": (200,) * 6,
    "/operate/audit.csv": (303, 403, 403, 403, 403, 200),
}
CALLED = {
    "/me": (401, 200, 200, 200, 200, 200),
    "/contests": (200,) * 6,
    "/contests/spring": (200,) * 6,
    "/contests/spring/preliminary/board": (200,) * 6,
    "/contests/spring/preliminary/submissions.csv": (401, 403, 403, 403, 200, 200),
    "/contests/spring/preliminary/jury.csv": (401, 403, 403, 403, 200, 200),
    "/teams": (401, 200, 200, 200, 200, 200),
    "/teams/1/entries": (401, 404, 200, 404, 404, 404),
    "/entries/1": (401, 404, 200, 404, 404, 404),
    "/submissions": (401, 200, 200, 200, 200, 200),
    "/submissions/1": (401, 404, 200, 404, 200, 200),
    "/submissions/1/logs": (401, 404, 200, 404, 200, 200),
    "/submissions/1/ledger": (401, 404, 200, 404, 200, 200),
    "/teams/1/invitations": (401, 404, 200, 404, 404, 404),
    "/audit.csv": (401, 403, 403, 403, 403, 200),
}
DONE = {  # what a form does, by those who may not (409, 422: may, but this one cannot be done)
    "/runs/1/rerun": (303, 403, 403, 404, 303, 409),
    "/runs/1/disqualify": (303, 403, 403, 404, 303, 303),
    "/organise/spring/preliminary/stage": (303, 403, 403, 403, 409, 409),
    "/contests/spring/game": (404,) * 6,
    "/contests/spring/questions": (303, 422, 422, 422, 422, 422),
    "/contests/spring/news": (303, 403, 403, 403, 422, 422),
    "/contests/spring/questions/1/answer": (303, 403, 403, 403, 404, 404),
    "/contests/spring/questions/1/remove": (303, 403, 403, 403, 404, 404),
    "/contests/spring/join": (303, 422, 422, 422, 422, 422),
    "/inbox/read": (303, 303, 303, 303, 303, 303),
    "/forgot": (409,) * 6,
    "/reset": (404,) * 6,
    "/account/email": (303, 303, 303, 303, 303, 303),
    "/account/email/confirm": (303, 404, 404, 404, 404, 404),
    "/teams/1/rename": (303, 404, 422, 404, 404, 422),
    "/organise/spring/edit": (303, 403, 403, 403, 422, 422),
    "/organise/spring/organisers": (303, 403, 403, 403, 404, 404),
    "/organise/spring/organisers/99/remove": (303, 403, 403, 403, 404, 404),
    "/organise/spring/registrations/99": (303, 403, 403, 403, 404, 404),
    "/organise/spring/phases": (303, 403, 403, 403, 422, 422),
    "/organise/spring/preliminary/remove": (303, 403, 403, 403, 409, 409),
    "/organise/spring/preliminary/data": (303, 403, 403, 403, 409, 409),
    "/organise/spring/downloads": (303, 403, 403, 403, 422, 422),
    "/organise/spring/downloads/nonsense/remove": (303, 403, 403, 403, 404, 404),
    "/organise/spring/upload": (303, 403, 403, 403, 422, 422),
    "/runs/1/choose": (303, 404, 409, 404, 404, 404),
    "/organise/spring/preliminary/admit": (303, 403, 403, 403, 404, 404),
    "/organise/spring/preliminary/withdraw": (303, 403, 403, 403, 422, 422),
    "/organise/spring/preliminary/rerun": (303, 403, 403, 403, 422, 422),
    "/organise/spring/preliminary": (303, 403, 403, 403, 422, 422),
    "/organise/spring/rulebook": (303, 403, 403, 403, 422, 422),
    "/organise/spring/images": (303, 403, 403, 403, 303, 303),
    "/organise/new": (303, 403, 403, 422, 422, 422),
    "/organise/toml": (303, 403, 403, 422, 422, 422),
    "/operate/roles": (303, 403, 403, 403, 403, 404),
    "/operate/jobs/1/retry": (303, 403, 403, 403, 403, 404),
    "/teams/1/entries": (303, 404, 422, 404, 404, 404),
    "/teams/1/invite": (303, 404, 200, 404, 404, 403),
    "/teams/1/members/99/remove": (303, 404, 404, 404, 404, 404),
    "/teams/1/members/99/captain": (303, 404, 404, 404, 404, 404),
    "/entries/1/versions": (303, 404, 422, 404, 404, 404),
    "/entries/1/submit": (303, 404, 422, 404, 404, 404),
    "/runs/1/cancel": (303, 404, 303, 404, 303, 303),
    "/account/tokens/999/revoke": (303, 404, 404, 404, 404, 404),
    "/operate/password": (303, 403, 403, 403, 403, 404),
    "/teams/1/invitations/99/revoke": (303, 404, 404, 404, 404, 404),
    "/entries/1/versions/1/remove": (303, 404, 409, 404, 404, 404),
}
ASKED = {  # the other calls of the API, with an empty body
    "PUT /entries/1/versions": (401, 404, 422, 404, 404, 404),
    "POST /teams": (401, 422, 422, 422, 422, 422),
    "POST /teams/1/invitations": (401, 404, 201, 404, 404, 403),
    "DELETE /teams/1/invitations/99": (401, 404, 404, 404, 404, 404),
    "POST /teams/1/entries": (401, 422, 422, 422, 422, 422),
    "DELETE /versions/1": (401, 404, 409, 404, 404, 404),
    "POST /submissions": (401, 422, 422, 422, 422, 422),
    "POST /join": (401, 422, 422, 422, 422, 422),
    "POST /contests": (401, 403, 403, 422, 422, 422),
    "PATCH /contests/spring/preliminary": (401, 403, 403, 422, 422, 422),
    "POST /contests/spring/rulebook": (401, 403, 403, 422, 422, 422),
    "PUT /contests/spring/images": (401, 403, 403, 422, 422, 422),
    "POST /submissions/1/cancel": (401, 404, 200, 404, 200, 200),
    "POST /submissions/1/disqualify": (401, 403, 403, 422, 422, 422),
    "POST /submissions/1/rerun": (401, 403, 403, 404, 200, 409),
    "POST /token": (422,) * 6,
}


@pytest.fixture
def full(sqlite_town, tmp_path):
    """A hidden contest with one played run of a team; people of every role."""
    town = sqlite_town
    town.contest()
    member = town.person("member")
    _, entry = team_with_entry(member)
    submit(member, entry, upload(member, entry, packed(tmp_path / "p", POOR)))
    town.play()
    people = {
        "visitor": town.visitor(),
        "stranger": town.person("stranger"),
        "member": member,
        "rival": town.person("rival", "organiser"),
        "owner": town.person("olga"),
        "operator": town.person("root", "operator"),
    }
    return town, people


def test_every_role_at_every_address(full):
    _, people = full
    for path, wanted in SEEN.items():
        got = tuple(people[role].get(path).status_code for role in ROLES)
        assert got == wanted, path
    for path, wanted in CALLED.items():
        ask = [
            people[role].http.get(f"/api/v1{path}") if role == "visitor" else people[role].api("GET", path)
            for role in ROLES
        ]
        assert tuple(answer.status_code for answer in ask) == wanted, path
    for path, wanted in DONE.items():
        got = tuple(people[role].post(path).status_code for role in ROLES)
        assert got == wanted, path


def test_every_role_at_every_other_call(full):
    _, people = full
    for call, wanted in ASKED.items():
        method, path = call.split()
        ask = [
            people[role].http.request(method, f"/api/v1{path}") if role == "visitor" else people[role].api(method, path)
            for role in ROLES
        ]
        assert tuple(answer.status_code for answer in ask) == wanted, call


def _shape(path: str) -> str:
    return re.sub(r"/(\d+|spring|preliminary|nonsense)(?=/|\.|$)", "/{}", path)


def test_no_address_is_left_out(sqlite_town):
    """Whoever adds a page or a call says here who may use it."""
    known = {("GET", _shape(path)) for path in SEEN} | {("POST", _shape(path)) for path in DONE}
    known |= {("GET", _shape(f"/api/v1{path}")) for path in CALLED}
    known |= {(call.split()[0], _shape(f"/api/v1{call.split()[1]}")) for call in ASKED}
    elsewhere = {  # tested in test_flow, test_security, test_accounts and test_handbook
        ("GET", "/docs"), ("GET", "/docs/"), ("GET", "/docs/{}"),
        ("POST", "/teams/{}/dissolve"),
        ("POST", "/join/{}"), ("POST", "/logout"), ("GET", "/language/{}"), ("POST", "/account/tokens"),
        ("POST", "/account/password"), ("POST", "/login"), ("POST", "/signup"), ("POST", "/teams"),
    }  # fmt: skip
    shapes = {(one.method, re.sub(r"\{[^}]*\}", "{}", one.path)) for one in addresses()}
    assert shapes - known - elsewhere == set()
    assert known - shapes == set()
    routes = {re.sub(r"\{[^}]*\}", "{}", route.path) for route in _routes(sqlite_town.app)}
    assert routes - {path for _, path in shapes} == {"/static/{}", "/favicon.ico"}


REFUSED = {"refused.sign_in", "refused.role_needed"}
ROLE_OF = dict(zip(ROLES, ("visitor", "contestant", "contestant", "organiser", "organiser", "operator"), strict=True))


def test_the_table_of_rights_is_what_the_site_does(full):
    """Every address as every role, with nothing in it: refused for the role exactly where the table says no."""
    _, people = full
    for one in addresses():
        path = re.sub(r"\{\w+_id\}", "1", one.path).replace("{slug}", "spring").replace("{code}", "x")
        path = re.sub(r"\{(phase|name)\}", "preliminary", path).replace("{chosen}", "en")
        for role in ROLES:
            person = people[role]
            headers = {"accept": "application/json"}
            if role != "visitor" and path.startswith("/api/v1"):
                person.api("GET", "/me")
                headers["authorization"] = f"Bearer {person.bearer}"
            answer = person.http.request(one.method, path, headers=headers)
            said = answer.json().get("key", "") if answer.status_code >= 400 else ""
            allowed = getattr(RIGHTS[one.right], ROLE_OF[role])
            if allowed == NO:
                assert said == ("refused.sign_in" if role == "visitor" else "refused.role_needed"), (one, role)
            elif allowed == "all":
                assert said not in REFUSED, (one, role)
            elif role == "stranger" and "{" in one.path:
                assert answer.status_code >= 400, (one, role)


def test_the_page_of_roles_shows_it(sqlite_town):
    page = sqlite_town.visitor().get("/roles")
    for one in addresses():
        assert f"{one.method} {one.path}" in page.text
    assert page.text.count("<tr>") == len(RIGHTS) + 1
    assert "运维人员" in sqlite_town.visitor().get("/roles", headers={"accept-language": "zh"}).text


def _routes(app):
    """Every route with its whole path, also those of included routers."""
    found = []

    def walk(routes, prefix=""):
        for route in routes:
            inner = getattr(route, "original_router", None)
            if inner is not None:
                walk(inner.routes, prefix + (getattr(route.include_context, "prefix", "") or ""))
            elif isinstance(route, APIRoute):
                found.append(type("R", (), {"path": prefix + route.path, "methods": route.methods}))

    walk(app.router.routes)
    return found


def test_hidden_labels_reach_no_contestant(full):
    """The run reported 201 throughout: 202 and 203 could come from the truth alone."""
    _, people = full
    for role in ("visitor", "stranger", "member", "rival"):
        for path in [
            path for path in SEEN if path.startswith(("/runs", "/teams", "/entries", "/organise", "/operate"))
        ]:
            text = people[role].get(path).text
            assert not re.search(r"\b20[23]\b", text), (role, path)
            assert "truth&quot;" not in text
        for path in [path for path in CALLED if role != "visitor"]:
            text = people[role].api("GET", path).text
            assert not re.search(r'\b20[23]\b|"trials":\s*\[|"correct"', text), (role, path)
    assert re.search(r"\b202\b", people["owner"].get("/runs/1/score.json").text)
    assert "tree-" not in people["member"].get("/runs/1").text  # names in the storage say nothing to outsiders


def test_stored_names_are_no_addresses(full):
    """Recordings and run folders are reached only through pages: no address takes a stored name."""
    town, people = full
    with town.site.session(False) as session:
        from bciarena.service.models import Phase

        data = session.get(Phase, 1).data
    for path in (f"/{data}", f"/static/{data}", f"/static/../{data}", f"/runs/{data}", "/static/%2e%2e%2fapp.py"):
        assert people["member"].get(path).status_code == 404


def house_run(town, folder, **phase):
    """A played run of a team that is then declared the house's own."""
    town.contest(**phase)
    member = town.person("member")
    _, entry = team_with_entry(member)
    submit(member, entry, upload(member, entry, packed(folder, POOR)))
    with town.site.session(writes=True) as session:
        session.get_one(Team, 1).house = True
        session.commit()
    town.play()


@pytest.mark.parametrize(
    ("phase", "status"),
    [
        ({"truth": "public"}, 200),
        ({"truth": "hidden"}, 303),
        ({"truth": "public", "board": "hidden"}, 303),
    ],
)
def test_runs_of_the_house_are_open_where_nothing_in_them_is_secret(sqlite_town, tmp_path, phase, status):
    town = sqlite_town
    house_run(town, tmp_path / "p", **phase)
    visitor, stranger = town.visitor(), town.person("stranger")
    for path in ("", "/state", "/ledger", "/score.json", "/report"):
        assert visitor.get(f"/runs/1{path}").status_code == status, path
        assert stranger.get(f"/runs/1{path}").status_code == (200 if status == 200 else 404), path
    for path in ("", "/logs", "/ledger"):
        answer = visitor.http.get(f"/api/v1/submissions/1{path}")
        assert answer.status_code == (200 if status == 200 else 401), path
    for act in ("cancel", "rerun", "disqualify"):
        assert visitor.post(f"/runs/1/{act}").headers.get("location", "").startswith("/login")
        assert stranger.post(f"/runs/1/{act}").status_code == (404 if act == "cancel" else 403)
    linked = 'href="/runs/1"' in visitor.get("/contests/spring/board").text
    assert linked == (status == 200)
