"""Runs that could be one person's never run at the same time on the same data, whatever happens to the teams."""

import re

from tests.service.conftest import packed

IDLE = """
class Entry:
    def run(self, task):
        while not task.get_data().finished:
            pass
"""


def submitted(town, person, team: int, package: bytes) -> int:
    entry = person.api("POST", f"/teams/{team}/entries", json={"name": "e", "challenge": "imagery"}).json()["id"]
    version = person.api("PUT", f"/entries/{entry}/versions", params={"filename": "e.zip"}, content=package).json()
    run = person.api("POST", "/submissions", json={"version_id": version["id"], "contest": "spring"})
    assert run.status_code == 201, run.text
    return run.json()["id"]


def founded(person, name: str) -> int:
    return person.api("POST", "/teams", json={"name": name}).json()["id"]


def leave(person, team: int) -> None:
    action = re.search(rf'action="(/teams/{team}/members/\d+/remove)"', person.get(f"/teams/{team}").text)[1]
    assert person.post(action).status_code == 303


def may_start(town) -> int:
    """How many jobs workers can take at once."""
    count = 0
    while town.site.queue.lease("worker") is not None:
        count += 1
    return count


def test_whoever_left_a_team_still_waits_for_its_run(town, tmp_path):
    town.contest()
    package = packed(tmp_path, IDLE).read_bytes()
    person = town.person("mallory")
    first, second = founded(person, "First"), founded(person, "Second")
    submitted(town, person, first, package)
    leave(person, first)
    submitted(town, person, second, package)
    assert may_start(town) == 1


def test_teams_that_become_connected_wait_for_each_other(sqlite_town, tmp_path):
    town = sqlite_town
    town.contest()
    package = packed(tmp_path, IDLE).read_bytes()
    old, new = town.person("olaf"), town.person("nina")
    older, newer = founded(old, "Older"), founded(new, "Newer")
    submitted(town, new, newer, package)
    code = old.api("POST", f"/teams/{older}/invitations").json()["code"]
    assert new.api("POST", "/join", json={"code": code}).status_code == 200
    submitted(town, old, older, package)
    assert may_start(town) == 1


def test_strangers_run_side_by_side(sqlite_town, tmp_path):
    town = sqlite_town
    town.contest()
    package = packed(tmp_path, IDLE).read_bytes()
    for name in ("alice", "bob"):
        person = town.person(name)
        submitted(town, person, founded(person, f"Of {name}"), package)
    assert may_start(town) == 2
