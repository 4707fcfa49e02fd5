"""Visits that end, tokens with scope and expiry, names that mislead nobody, teams with room, lost passwords."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from alembic import command
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from bciarena.cli import main
from bciarena.database import db
from bciarena.service import accounts, teams
from bciarena.service.models import Account, Invitation, Membership, Team, Token, Visit
from bciarena.service.names import folded, misleads, plain
from bciarena.service.refusals import Refused
from tests.service.conftest import PASSWORD, Person
from tests.service.test_flow import team_with_entry


def copy_of(person: Person) -> Person:
    """Somebody who has got hold of a person's cookie."""
    thief = Person(str(person.http.base_url), person.name)
    thief.http.cookies = httpx.Cookies(person.http.cookies)
    return thief


def test_signing_out_ends_the_cookie_wherever_it_is(town):
    ann = town.person("ann")
    thief, elsewhere = copy_of(ann), town.person("ann")
    assert thief.get("/account").status_code == 200
    assert ann.post("/logout").status_code == 303
    assert thief.get("/account").status_code == 303
    assert thief.post("/teams", {"name": "Alpha"}).headers["location"].startswith("/login")
    assert elsewhere.get("/account").status_code == 200  # another browser of hers stays
    with town.site.session(False) as session:
        assert len(session.scalars(select(Visit)).all()) == 1
    thief.http.close()


def test_a_visit_ends_by_itself(sqlite_town):
    ann = sqlite_town.person("ann")
    with sqlite_town.site.session(True) as session:
        session.scalars(select(Visit)).one().expires_at = 1.0
        session.commit()
    assert ann.get("/account").status_code == 303
    sqlite_town.person("bob")  # signing in clears away what has ended
    with sqlite_town.site.session(False) as session:
        assert len(session.scalars(select(Visit)).all()) == 1


def token(person: Person, **more) -> dict[str, str]:
    body = {"name": person.name, "password": PASSWORD, **more}
    return {"authorization": f"Bearer {person.http.post('/api/v1/token', json=body).json()['token']}"}


def test_a_token_does_what_its_scope_says(town):
    town.contest()
    olga = town.person("olga")
    change = ("PATCH", "/contests/spring/preliminary", {"daily_limit": 7})
    found = ("POST", "/teams", {"name": "Alpha"})
    look = ("GET", "/teams", None)
    for scope, allowed in (("read", [look]), ("submit", [look, found]), ("organise", [look, change])):
        header = token(olga, scope=scope)
        for method, path, body in (look, found, change):
            answer = olga.http.request(method, f"/api/v1{path}", json=body, headers=header)
            if (method, path, body) in allowed:
                assert answer.status_code < 300, (scope, path, answer.text)
            elif scope != "organise":
                assert (answer.status_code, answer.json()["key"]) == (403, "refused.scope"), (scope, path)
    assert (
        olga.http.post("/api/v1/token", json={"name": "olga", "password": PASSWORD, "scope": "all"}).status_code == 422
    )
    assert olga.http.post("/api/v1/token", json={"name": "olga", "password": PASSWORD, "days": 400}).status_code == 422


def test_a_scope_gives_nobody_a_role(sqlite_town):
    sqlite_town.contest()
    ann = sqlite_town.person("ann")
    answer = ann.http.post("/api/v1/contests", json={}, headers=token(ann, scope="organise"))
    assert answer.json()["key"] == "refused.role_needed"


def test_a_token_expires(town):
    ann = town.person("ann")
    header = token(ann)
    assert ann.http.get("/api/v1/me", headers=header).status_code == 200
    with town.site.session(True) as session:
        kept = session.scalars(select(Token)).one()
        assert 89 * 86400 < kept.expires_at - kept.created_at <= 90 * 86400 + 5
        kept.expires_at = 1.0
        session.commit()
    assert ann.http.get("/api/v1/me", headers=header).status_code == 401
    assert "expired" in ann.get("/account").text


def test_tokens_and_visits_die_with_the_password(town):
    ann = town.person("ann")
    elsewhere, header = town.person("ann"), token(ann)
    assert ann.post("/account/password", {"old": PASSWORD, "new": "another good one"}).status_code == 303
    assert ann.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303
    assert ann.http.get("/api/v1/me", headers=header).status_code == 401
    with town.site.session(False) as session:
        assert session.scalars(select(Token)).all() == []


def test_a_lost_password_is_reset(sqlite_town, capsys, monkeypatch):
    ann, root = sqlite_town.person("ann"), sqlite_town.person("root", "operator")
    where = ["--home", str(sqlite_town.settings.home), "--database", sqlite_town.settings.database]
    assert main(["account", "reset", "nobody", *where]) == 2
    assert "no such account" in capsys.readouterr().err
    assert main(["account", "reset", "ann", *where]) == 0
    password = capsys.readouterr().out.split(": ")[1].split(" ")[0]
    assert ann.get("/account").status_code == 303
    assert ann.post("/login", {"name": "ann", "password": password}).status_code == 303
    monkeypatch.setattr("sys.stdin", io.StringIO("chosen by herself\n"))
    assert main(["account", "reset", "ann", "--password-stdin", *where]) == 0
    assert "chosen" not in capsys.readouterr().out
    assert ann.post("/login", {"name": "ann", "password": "chosen by herself"}).status_code == 303
    page = root.post("/operate/password", {"name": "ann"}).text
    fresh = page.split('class="secret">')[1].split("<")[0]
    assert ann.get("/account").status_code == 303
    assert ann.post("/login", {"name": "ann", "password": fresh}).status_code == 303
    assert main(["account", "log", *where]) == 0
    log = capsys.readouterr().out.splitlines()
    assert [line.split(",")[3] for line in log[1:]] == ["password"] * 3
    assert "at the machine" in log[1]
    assert "root" in log[3]


# -------------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name",
    ["аnn", "Αlpha", "pаypal", "асе", "НОРА", "ann\u200bb", "a\u202eb", "ａｎn\u3164", "Ꭺnn", "ann\u0335\u0335", "ɑnn",
     "x\u2800y", "\u0301ann", "ann\u00ad", "ﺍnn"],
)  # fmt: skip
def test_names_that_look_like_others_are_refused(sqlite_town, name):
    person = sqlite_town.visitor()
    assert person.post("/signup", {"name": name, "password": PASSWORD}).status_code == 422
    assert sqlite_town.person("bob").post("/teams", {"name": name}).status_code == 422


@pytest.mark.parametrize(
    "name",
    [
        "ann",
        "José",
        "Łukasz",
        "Nguyễn",
        "王小明",
        "脑机A队",
        "たなかTaro",
        "김민준",
        "Ася",
        "Дмитрий",
        "Γιώργος",
        "אבי",
        "x9",
    ],
)
def test_names_people_have_are_taken(name):
    assert not misleads(plain(name))
    assert accounts.NAME.fullmatch(plain(name))


def test_styled_and_wide_letters_become_plain_ones(sqlite_town):
    person = sqlite_town.visitor()
    assert person.post("/signup", {"name": "Ａ𝓷𝐧", "password": PASSWORD}).status_code == 303
    with sqlite_town.site.session(False) as session:
        assert session.scalars(select(Account.name)).all() == ["Ann"]
    assert sqlite_town.visitor().post("/signup", {"name": "ANN", "password": PASSWORD}).status_code == 409
    assert folded("ſtraße") == folded("STRASSE")


ALIKE = [("alice", "aIice"), ("alice", "al1ce"), ("admin", "adrnin"), ("admin", "admln"), ("admin", "admın"),
         ("olga", "0lga"), ("mallory", "rna11ory"), ("wes", "VVES"), ("bob", "B0b")]  # fmt: skip


def test_a_name_that_looks_like_one_that_is_taken_is_taken(sqlite_town):
    site, captain = sqlite_town.site, sqlite_town.person("captain")
    spare = captain.api("POST", "/teams", json={"name": "Spare"}).json()["id"]
    with site.session(True) as session:
        me = session.scalars(select(Account)).one()
        for name in sorted({name for name, _ in ALIKE}):
            accounts.sign_up(session, name, PASSWORD)
            teams.create_team(session, me, name)
        for name, other in ALIKE:
            for act in (
                lambda other=other: accounts.sign_up(session, other, PASSWORD),
                lambda other=other: teams.create_team(session, me, other),
                lambda other=other: teams.rename(session, me, session.get_one(Team, spare), other),
            ):
                with pytest.raises(Refused) as told:
                    act()
                assert told.value.status == 409, (name, other)
        with pytest.raises(Refused):
            teams.create_team(session, me, "Spare.")
    page = sqlite_town.visitor().post("/signup", {"name": "aIice", "password": PASSWORD})
    assert page.status_code == 409
    assert "alice" not in page.text
    assert sqlite_town.visitor().post("/login", {"name": "aIice", "password": PASSWORD}).status_code == 401


def test_names_that_merely_resemble_each_other_are_taken(sqlite_town):
    with sqlite_town.site.session(True) as session:
        for name in ("team1", "team2", "team10", "ann", "anna", "an-n", "Jose", "José", "kern", "kren"):
            accounts.sign_up(session, name, PASSWORD)


def test_alike_names_from_before_stay_and_no_more_are_added(database_url):
    engine = db.open_database(database_url)
    with engine.begin() as connection:
        config = db._config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0008")
        add = "insert into accounts (name, folded, password, role, disabled, created_at) "
        for name in ("alice", "al1ce"):
            connection.execute(text(f"{add} values (:name, :name, '-', 'x', false, 0)"), {"name": name})
    db.upgrade(engine)
    with Session(engine) as session:
        assert [account.looks for account in session.scalars(select(Account).order_by(Account.id))] == ["allce", None]
        with pytest.raises(Refused):
            accounts.sign_up(session, "aIice", PASSWORD)
        assert {accounts.account_named(session, name).name for name in ("alice", "al1ce")} == {"alice", "al1ce"}
    engine.dispose()


# -------------------------------------------------------------------- teams


def members(town, team: int) -> int:
    with town.site.session(False) as session:
        return len(session.scalars(select(Membership).where(Membership.team_id == team)).all())


def test_caps_hold_on_joining_too(town, monkeypatch):
    """Five with invitations, room for two more, all at the same moment; and nobody gets into one team too many."""
    monkeypatch.setattr(teams, "MEMBERS_EACH", 3)
    ann = town.person("ann")
    team, _ = team_with_entry(ann)
    people = [town.person(f"p{n}") for n in range(5)]
    codes = [ann.api("POST", f"/teams/{team}/invitations").json()["code"] for _ in people]
    for person in people:
        person.api("GET", "/me")
    with ThreadPoolExecutor(5) as pool:
        got = list(pool.map(lambda one, code: one.api("POST", "/join", json={"code": code}).status_code, people, codes))
    assert sorted(got) == [200, 200, 409, 409, 409]
    assert members(town, team) == 3
    monkeypatch.setattr(teams, "MEMBERS_EACH", 30)
    monkeypatch.setattr(teams, "TEAMS_EACH", 2)
    eve = town.person("eve")
    for name in ("One", "Two"):
        assert eve.post("/teams", {"name": name}).status_code == 303
    code = ann.api("POST", f"/teams/{team}/invitations").json()["code"]
    assert eve.post(f"/join/{code}").status_code == 409
    assert members(town, team) == 3


def test_invitations_are_few_listed_and_revocable(town, monkeypatch):
    monkeypatch.setattr(teams, "INVITATIONS_EACH", 3)
    ann, bob, eve = town.person("ann"), town.person("bob"), town.person("eve")
    team, _ = team_with_entry(ann)
    assert bob.post(f"/join/{ann.api('POST', f'/teams/{team}/invitations').json()['code']}").status_code == 303
    by_bob = bob.api("POST", f"/teams/{team}/invitations").json()["code"]
    by_ann = [ann.api("POST", f"/teams/{team}/invitations").json()["code"] for _ in range(2)]
    assert ann.api("POST", f"/teams/{team}/invitations").json()["key"] == "refused.invitations"
    assert ann.post(f"/teams/{team}/invite").status_code == 409
    listed = ann.api("GET", f"/teams/{team}/invitations").json()
    assert [one["by"] for one in listed] == ["bob", "ann", "ann"]
    assert not any(code in ann.get(f"/teams/{team}").text for code in (by_bob, *by_ann))
    assert bob.post(f"/teams/{team}/invitations/{listed[1]['id']}/revoke").status_code == 403  # not his, no captain
    assert eve.post(f"/teams/{team}/invitations/{listed[0]['id']}/revoke").status_code == 404
    assert ann.post(f"/teams/{team}/invitations/{listed[0]['id']}/revoke").status_code == 303
    assert ann.api("DELETE", f"/teams/{team}/invitations/{listed[1]['id']}").status_code == 204
    assert eve.post(f"/join/{by_bob}").status_code == 404
    assert eve.post(f"/join/{by_ann[0]}").status_code == 404
    assert eve.post(f"/join/{by_ann[1]}").status_code == 303
    with town.site.session(False) as session:
        used = session.scalars(select(Invitation)).all()
        assert all(one.used_by for one in used)
        assert session.get_one(Team, team).name == "Alpha"
