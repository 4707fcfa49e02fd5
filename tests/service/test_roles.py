"""Who may see and do what, asked as every role at every address; and hidden labels, which nobody may reach."""

from __future__ import annotations

import re

import pytest
from fastapi.routing import APIRoute

from bciarena.service.models import Team
from tests.service.conftest import packed
from tests.service.test_flow import POOR, submit, team_with_entry, upload

ROLES = ("visitor", "stranger", "member", "rival", "owner", "operator")
SEEN = {  # statuses in the order of ROLES; 303: sent to the sign-in page; 404: there is no such thing for you
    "/": (200,) * 6,
    "/contests/spring": (200,) * 6,
    "/contests/spring/preliminary": (200,) * 6,
    "/contests/spring/preliminary/revision": (200,) * 6,
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
    "/operate": (303, 403, 403, 403, 403, 200),
    "/join/nonsense": (404,) * 6,
}
CALLED = {
    "/me": (401, 200, 200, 200, 200, 200),
    "/contests": (200,) * 6,
    "/contests/spring": (200,) * 6,
    "/contests/spring/preliminary/board": (200,) * 6,
    "/contests/spring/preliminary/submissions.csv": (401, 403, 403, 403, 200, 200),
    "/teams": (401, 200, 200, 200, 200, 200),
    "/teams/1/entries": (401, 404, 200, 404, 404, 404),
    "/entries/1": (401, 404, 200, 404, 404, 404),
    "/submissions": (401, 200, 200, 200, 200, 200),
    "/submissions/1": (401, 404, 200, 404, 200, 200),
    "/submissions/1/logs": (401, 404, 200, 404, 200, 200),
    "/submissions/1/ledger": (401, 404, 200, 404, 200, 200),
}
DONE = {  # what a form does, by those who may not (409, 422: may, but this one cannot be done)
    "/runs/1/rerun": (303, 404, 403, 404, 303, 409),
    "/runs/1/disqualify": (303, 404, 403, 404, 303, 303),
    "/organise/spring/preliminary": (303, 403, 403, 403, 422, 422),
    "/organise/spring/rulebook": (303, 403, 403, 403, 422, 422),
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


def test_no_address_is_left_out(sqlite_town):
    """Whoever adds a page or a call says here who may use it."""
    known = {*SEEN, *DONE, *(f"/api/v1{path}" for path in CALLED)}
    shapes = {re.sub(r"/(\d+|spring|preliminary|nonsense)(?=/|\.|$)", "/{}", path) for path in known}
    elsewhere = {  # tested in test_flow, test_security or by schemathesis
        "/static/{}", "/favicon.ico", "/api/openapi.json", "/join/{}", "/logout", "/language/{}", "/account/tokens",
        "/account/password",
    }  # fmt: skip
    paths = set()
    for route in _routes(sqlite_town.app):
        if "GET" in route.methods or not route.path.startswith("/api/"):
            paths.add(re.sub(r"\{[^}]*\}", "{}", route.path))
    assert paths - shapes - elsewhere == set()


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
        assert stranger.post(f"/runs/1/{act}").status_code == 404
    linked = 'href="/runs/1"' in visitor.get("/contests/spring").text
    assert linked == (status == 200)
