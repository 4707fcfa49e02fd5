"""Every act of organisers and operators is kept, and what is kept cannot be changed."""

from __future__ import annotations

import csv
import io

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from bciarena.cli import main
from bciarena.jobs.model import Job
from bciarena.service.audit import audit_csv, newest
from bciarena.service.models import Account, AuditLine
from tests.service.conftest import packed
from tests.service.test_flow import GOOD, submit, team_with_entry, upload


def acts(town) -> list[tuple[str, str]]:
    with town.site.session(False) as session:
        return [(line.who, line.what) for line in reversed(newest(session, 1000))]


def test_every_act_of_organisers_and_operators_is_kept(town, tmp_path):
    town.contest()
    ann, bob, olga, root = (town.person(n, r) for n, r in PEOPLE)
    team, entry = team_with_entry(ann)
    bob.post(f"/join/{ann.api('POST', f'/teams/{team}/invitations').json()['code']}")
    version = upload(ann, entry, packed(tmp_path / "p", GOOD))
    own = submit(ann, entry, version)
    assert ann.post(f"/runs/{own}/cancel").status_code == 303  # her own: no act of an organiser
    run = submit(ann, entry, version)
    before = len(acts(town))
    fields = {"counts": "best", "board": "hidden", "limit": "5", "starts": "", "ends": ""}
    member = {"id": 0}
    with town.site.session(True) as session:
        member["id"] = session.scalars(sa.select(Account.id).where(Account.name == "bob")).one()
    done = [
        (olga, f"/runs/{run}/cancel", {}, "cancel"),
        (olga, f"/runs/{run}/rerun", {}, "rerun"),
        (olga, f"/runs/{run}/disqualify", {"reason": "two accounts"}, "disqualify"),
        (olga, "/organise/spring/preliminary", fields, "phase"),
        (olga, "/organise/spring/rulebook", {"rulebook": "imagery/1"}, "rulebook"),
        (olga, "/organise/spring/images", {"images": ""}, "images"),
        (root, f"/teams/{team}/members/{member['id']}/captain", {}, "name_captain"),
        (root, f"/teams/{team}/members/{member['id']}/remove", {}, "remove_member"),
        (root, "/operate/roles", {"name": "bob", "role": "organiser"}, "role"),
        (root, "/operate/password", {"name": "bob"}, "password"),
    ]
    for person, path, given, _ in done:
        assert person.post(path, given).status_code in (200, 303), path
    with town.site.session(True) as session:
        job = session.scalars(sa.select(Job).order_by(Job.id.desc())).first()
        job.state, number = "faulted", job.id
        session.commit()
    assert root.post(f"/operate/jobs/{number}/retry").status_code == 303
    made = 'slug="x"\ntitle="x"\nrulebook="imagery"\n[[phase]]\nname="a"\n[phase.data]\nsimulate={subjects=1}\n'
    assert olga.post("/organise/toml", {"toml": made.replace("\\\n", "\n")}).status_code == 303
    kept = acts(town)[before:]
    assert kept == [*((person.name, what) for person, _, _, what in done), ("root", "retry"), ("olga", "create")]
    rows = list(csv.DictReader(io.StringIO(root.get("/operate/audit.csv").text)))
    assert [(row["who"], row["what"]) for row in rows] == acts(town)
    assert root.api("GET", "/audit.csv").text == root.get("/operate/audit.csv").text
    assert "two accounts" in root.get("/operate").text


PEOPLE = (("ann", "contestant"), ("bob", "contestant"), ("olga", "organiser"), ("root", "operator"))


@pytest.mark.parametrize(
    "change",
    [
        sa.update(AuditLine).values(who="somebody else"),
        sa.delete(AuditLine),
        sa.delete(AuditLine).where(AuditLine.id == 1),
    ],
)
def test_the_log_only_grows(town, change):
    town.contest()
    with town.site.session(False) as session:
        before = audit_csv(session)
    assert "create" in before
    with town.site.session(True) as session, pytest.raises(DBAPIError, match="only grows"):
        session.execute(change)
    with town.site.session(False) as session:
        assert audit_csv(session) == before


def test_a_password_in_an_url_is_not_taken_from_the_command_line(capsys):
    for command in (
        ["serve", "--database", "postgresql://arena:geheim@db/arena"],
        ["worker", "--storage=sftp://arena:geheim@host/x"],
        ["account", "reset", "ann", "--database", "postgresql://arena:geheim@db/arena"],
    ):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert "geheim" not in said
        assert "ARENA_DATABASE" in said
