"""From sign-up to the board, over real HTTP, on both databases, the run boxed and played by a real worker."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from sqlalchemy import select

from bciarena.contests import RULEBOOKS
from bciarena.jobs.lease import Outcome
from bciarena.jobs.model import Job
from bciarena.service.keeper import work_once
from bciarena.service.models import Result
from tests.service.conftest import PASSWORD, RIGHT, packed

GOOD = RIGHT.format(answer="201 + (self.count - 1) % 3")
POOR = RIGHT.format(answer="201")
CRASH = "class Entry:\n    def step(self, packet):\n        raise ValueError('no such luck')\n"


def team_with_entry(person, name="Alpha") -> tuple[int, int]:
    team = int(person.post("/teams", {"name": name}).headers["location"].split("/")[-1])
    made = person.post(f"/teams/{team}/entries", {"name": "first", "challenge": "imagery"})
    return team, int(made.headers["location"].split("/")[-1])


def upload(person, entry: int, path) -> int:
    with open(path, "rb") as file:
        answer = person.post(f"/entries/{entry}/versions", files={"package": (path.name, file)})
    assert answer.status_code == 303, answer.text
    return person.api("GET", f"/entries/{entry}").json()["versions"][-1]["id"]


def submit(person, entry: int, version: int, phase: int = 1) -> int:
    answer = person.post(f"/entries/{entry}/submit", {"version": str(version), "phase": str(phase)})
    assert answer.status_code == 303, answer.text
    return int(answer.headers["location"].split("?")[0].split("/")[-1])


def test_from_sign_up_to_the_board(town, tmp_path):
    town.contest()
    ann, bob = town.visitor(), town.visitor()
    ann.name, bob.name = "ann", "bob"
    ann.sign_up()
    bob.sign_up()
    _, first = team_with_entry(ann, "Alpha")
    _, second = team_with_entry(bob, "Beta")
    good = submit(ann, first, upload(ann, first, packed(tmp_path / "good", GOOD)))
    poor = submit(bob, second, upload(bob, second, packed(tmp_path / "poor", POOR)))
    crash = submit(bob, second, upload(bob, second, packed(tmp_path / "crash", CRASH)))
    assert ann.get(f"/runs/{good}/state").json()["state"] == "queued"
    town.play()
    state = ann.api("GET", f"/submissions/{good}").json()
    assert (state["state"], state["verdict"], state["ranked"]) == ("scored", "ok", True)
    assert state["score"] == pytest.approx(60 * 1.584962500721156 / 1.5)
    assert state["low"] <= state["score"] <= state["high"]
    failed = bob.api("GET", f"/submissions/{crash}").json()
    assert (failed["state"], failed["verdict"], failed["ranked"]) == ("failed", "crashed", False)
    assert "no such luck" in failed["reason"]
    board = town.visitor().get("/api/v1/contests/spring/preliminary/board").json()
    assert [row["team"] for row in board["rows"]] == ["Alpha", "Beta"]
    assert [row["not_distinguishable_from"] for row in board["rows"]] == [[1, 1], [2, 2]]  # 6 blocks: p = 2/64
    page = town.visitor().get("/contests/spring/board").text
    assert page.index("Alpha") < page.index("Beta")
    ledger = ann.get(f"/runs/{good}/ledger").text.splitlines()
    assert json.loads(ledger[0])["type"] == "header"
    assert json.loads(ledger[-1])["verdict"] == "ok"
    assert "no such luck" in bob.get(f"/runs/{crash}").text
    assert bob.get(f"/runs/{poor}").status_code == 200
    timing = r"Computing time per packet: median [\d.e-]+ ms.*\n?.*Reference load .*the run: [\d.]+ ms, [\d.]+ t"
    assert re.search(timing, ann.get(f"/runs/{good}").text)
    explained = r"36 reports in 36 trials: \d+ right, \d+ wrong, 0 late, 0 missing; computing [\d.]+ s of \d+ s of data"
    assert re.search(explained, ann.get(f"/runs/{good}").text)
    assert re.match(explained, ann.api("GET", f"/submissions/{good}").json()["summary"])
    assert "36 个试次中报告 36 次：正确" in ann.get(f"/runs/{good}", headers={"accept-language": "zh"}).text
    assert "运行前的参考负载" in ann.get(f"/runs/{good}", headers={"accept-language": "zh"}).text


def test_a_run_that_waits_is_told_why(town, tmp_path):
    town.contest()
    ann = town.visitor()
    ann.name = "ann"
    ann.sign_up()
    _, entry = team_with_entry(ann, "Alpha")
    version = upload(ann, entry, packed(tmp_path / "good", GOOD))
    first, second = submit(ann, entry, version), submit(ann, entry, version)
    why = "waits until another run on this data has ended"
    assert why not in ann.get(f"/runs/{second}").text
    lease = town.site.queue.lease("w")
    assert why in ann.get(f"/runs/{second}").text
    assert why in ann.get(f"/runs/{second}/state").json()["words"]
    assert "须等待本队" in ann.get(f"/runs/{second}", headers={"accept-language": "zh"}).text
    town.site.queue.commit(lease, Outcome(error="the machine is disturbed", later=True))
    assert why not in ann.get(f"/runs/{second}").text
    assert "was put back because the machine was not quiet" in ann.get(f"/runs/{first}").text


def test_daily_limit_phases_and_wrong_challenge(town, tmp_path):
    town.contest(daily_limit=1)
    town.contest(slug="later", starts="2999-01-01T00:00:00Z")
    town.contest(slug="gone", ends="2001-01-01T00:00:00Z")
    ann = town.person("ann")
    team, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", GOOD))
    run = submit(ann, entry, version)
    again = ann.post(f"/entries/{entry}/submit", {"version": str(version), "phase": "1"})
    assert again.status_code == 429
    assert ann.api("POST", f"/submissions/{run}/cancel").json()["state"] == "cancelled"
    submit(ann, entry, version)  # what was cancelled does not count
    for contest, key in (("later", "refused.phase_upcoming"), ("gone", "refused.phase_over")):
        said = ann.api("POST", "/submissions", json={"version_id": version, "contest": contest})
        assert (said.status_code, said.json()["key"]) == (409, key)
    other = ann.api("POST", f"/teams/{team}/entries", json={"name": "s", "challenge": "speller"}).json()["id"]
    with open(packed(tmp_path / "q", GOOD), "rb") as file:
        spelled = ann.api("PUT", f"/entries/{other}/versions", content=file.read()).json()["id"]
    said = ann.api("POST", "/submissions", json={"version_id": spelled, "contest": "spring"})
    assert said.json()["key"] == "refused.challenge"


def test_last_place_of_the_day_goes_once(town, tmp_path):
    """Many submissions at the same moment: the limit holds."""
    from concurrent.futures import ThreadPoolExecutor

    town.contest(daily_limit=3)
    ann = town.person("ann")
    _, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", GOOD))
    body = {"version_id": version, "contest": "spring"}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ann.api("POST", "/submissions", json=body).status_code, range(8)))
    assert sorted(answers) == [201] * 3 + [429] * 5


def test_no_way_around_the_days_limit(town, tmp_path):
    """Neither by cancelling a run that has begun, nor by a second team of the same person; others have their own."""
    town.contest(daily_limit=1)
    ann, bob = town.person("ann"), town.person("bob")
    package = packed(tmp_path / "p", GOOD)
    places = {}
    for person, name in ((ann, "Alpha"), (ann, "Beta"), (bob, "Gamma")):
        _, entry = team_with_entry(person, name)
        places[name] = {"version_id": upload(person, entry, package), "contest": "spring"}
    run = ann.api("POST", "/submissions", json=places["Alpha"]).json()["id"]
    assert ann.api("POST", "/submissions", json=places["Beta"]).status_code == 429
    assert town.site.queue.lease("a worker") is not None
    assert ann.api("POST", f"/submissions/{run}/cancel").json()["state"] == "cancelled"
    for name in ("Alpha", "Beta"):
        assert ann.api("POST", "/submissions", json=places[name]).status_code == 429
    assert bob.api("POST", "/submissions", json=places["Gamma"]).status_code == 201


def test_what_an_entry_says_is_harmless_text(sqlite_town, tmp_path):
    """Printed, raised and reported: no escapes and no changes of direction in logs, page, ledger and worker's line."""
    sqlite_town.contest()
    ann = sqlite_town.person("ann")
    _, entry = team_with_entry(ann)
    bad = "'\\x1b[31m\\x9b5m\\u202e<b>\\nworker: job 99: ok'"
    code = f"class Entry:\n    def step(self, packet):\n        print({bad})\n"
    code += f"        if packet.start:\n            raise ValueError({bad})\n        return {bad}\n"
    run = submit(ann, entry, upload(ann, entry, packed(tmp_path / "p", code)))
    said = sqlite_town.play()
    logs, ledger = (ann.api("GET", f"/submissions/{run}/{what}").text for what in ("logs", "ledger"))
    page = ann.get(f"/runs/{run}").text
    assert all("[31m" in text for text in (logs, page, ledger))
    for text in (logs, ledger, page, "\n".join(said)):
        assert not set("\x1b\x9b\u202e") & set(text)
    assert "<b>" not in page.split("<main")[1].split("[31m")[1]
    assert any("job 99" in line for line in said)
    assert not any("\n" in line for line in said)


def test_organiser_reruns_disqualifies_publishes_exports(town, tmp_path):
    town.contest(board="hidden")
    olga, ann, visitor = town.person("olga"), town.person("ann"), town.visitor()
    _, entry = team_with_entry(ann, "=HYPERLINK(1)")
    run = submit(ann, entry, upload(ann, entry, packed(tmp_path / "p", GOOD)))
    town.play()
    assert "HYPERLINK" not in visitor.get("/contests/spring/board").text
    assert visitor.get("/api/v1/contests/spring/preliminary/board").status_code == 403
    assert ann.api("GET", "/contests/spring/preliminary/board").status_code == 403
    assert "HYPERLINK" in olga.get("/contests/spring/board").text
    fields = {"counts": "best", "board": "public", "limit": "5", "starts": "", "ends": ""}
    assert olga.post("/organise/spring/preliminary", fields).status_code == 303
    assert "HYPERLINK" in visitor.get("/contests/spring/board").text
    assert olga.post(f"/runs/{run}/disqualify", {"reason": "two accounts"}).status_code == 303
    assert "HYPERLINK" not in visitor.get("/contests/spring/board").text
    assert "two accounts" in ann.get(f"/runs/{run}").text
    rows = list(csv.DictReader(io.StringIO(olga.get("/organise/spring/preliminary.csv").text)))
    assert rows[0]["team"] == "'=HYPERLINK(1)"  # a spreadsheet must not run it
    assert rows[0]["disqualified"] == "two accounts"
    assert olga.post(f"/runs/{run}/disqualify", {"reason": ""}).status_code == 303
    before = ann.api("GET", f"/submissions/{run}").json()["score"]
    assert olga.post(f"/runs/{run}/rerun").status_code == 303
    assert ann.api("GET", f"/submissions/{run}").json()["state"] == "queued"
    town.play()
    after = ann.api("GET", f"/submissions/{run}").json()
    assert (after["state"], after["score"]) == ("scored", before)
    with town.site.session(False) as session:
        assert [one.current for one in session.scalars(select(Result).order_by(Result.id))] == [False, True]
    log = town.person("root", "operator").get("/operate").text
    assert "two accounts" in log
    assert "run again" in log


def test_rescore_under_a_new_rulebook_runs_nothing(town, tmp_path, monkeypatch):
    from dataclasses import replace

    town.contest()
    ann, olga = town.person("ann"), town.person("olga")
    _, entry = team_with_entry(ann)
    run = submit(ann, entry, upload(ann, entry, packed(tmp_path / "p", GOOD)))
    town.play()
    before = ann.api("GET", f"/submissions/{run}").json()["score"]
    first = RULEBOOKS["imagery/1"]
    slower = replace(first, id="imagery/2", constants={**first.constants, "rest_s": 2.0})  # 3 s a trial, not 1.5
    monkeypatch.setitem(RULEBOOKS, "imagery/2", slower)
    assert olga.post("/organise/spring/rulebook", {"rulebook": "imagery/2"}).status_code == 303
    assert work_once(town.site) == 1
    assert work_once(town.site) == 0
    assert ann.api("GET", f"/submissions/{run}").json()["score"] == pytest.approx(before / 2)
    board = ann.api("GET", "/contests/spring/preliminary/board").json()
    assert (board["rulebook"], board["rows"][0]["score"]) == ("imagery/2", pytest.approx(before / 2))
    for path in ("/teams/1", "/entries/1", f"/runs/{run}", f"/runs/{run}/state"):  # one score everywhere
        text = ann.get(path).text
        assert f"{before / 2:.2f}" in text, path
        assert f"{before:.2f}" not in text, path
    assert f"{before / 2:.2f}" in olga.get("/organise/spring").text
    told = olga.get(f"/runs/{run}/score.json").json()
    assert (told["challenge"], told["score"]) == ("imagery/2", pytest.approx(before / 2))
    assert "(imagery/1)" in olga.get(f"/runs/{run}").text  # the report shows it as it was played
    with town.site.session(False) as session:
        assert session.scalars(select(Job.attempt)).all() == [1]
    assert olga.post("/organise/spring/rulebook", {"rulebook": "speller/1"}).status_code == 422


def test_teams_invitations(town):
    ann, bob, eve = town.person("ann"), town.person("bob"), town.person("eve")
    team, _ = team_with_entry(ann)
    assert bob.get(f"/teams/{team}").status_code == 404
    code = ann.api("POST", f"/teams/{team}/invitations").json()["code"]
    assert "Alpha" in bob.get(f"/join/{code}").text
    assert bob.post(f"/join/{code}").status_code == 303
    assert eve.post(f"/join/{code}").status_code == 404  # used up
    assert bob.get(f"/teams/{team}").status_code == 200
    account = {one.name: one.account_id for one in _members(town, team)}
    assert bob.post(f"/teams/{team}/members/{account['ann']}/remove").status_code == 403
    assert ann.post(f"/teams/{team}/members/{account['ann']}/remove").status_code == 409  # the last captain
    assert ann.post(f"/teams/{team}/members/{account['bob']}/captain").status_code == 303
    assert ann.post(f"/teams/{team}/members/{account['ann']}/remove").status_code == 303
    assert ann.get(f"/teams/{team}").status_code == 404
    assert bob.post("/teams", {"name": "ＡＬＰＨＡ"}).status_code == 409  # looks like Alpha


def _members(town, team):
    from types import SimpleNamespace

    from bciarena.service.models import Membership

    with town.site.session(False) as session:
        rows = session.scalars(select(Membership).where(Membership.team_id == team)).all()
        return [SimpleNamespace(name=row.account.name, account_id=row.account_id) for row in rows]


def test_password_change_ends_other_visits(town):
    ann = town.person("ann")
    elsewhere = town.person("ann")
    assert ann.post("/account/password", {"old": "wrong", "new": "another good one"}).status_code == 403
    assert ann.post("/account/password", {"old": PASSWORD, "new": "another good one"}).status_code == 303
    assert ann.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303


def test_tokens_are_shown_once_and_can_be_revoked(town):
    ann = town.person("ann")
    page = ann.post("/account/tokens", {"name": "laptop"}).text
    token = page.split('class="secret">')[1].split("<")[0]
    header = {"authorization": f"Bearer {token}"}
    assert ann.http.get("/api/v1/me", headers=header).json() == {"name": "ann", "role": "contestant"}
    assert token not in ann.get("/account").text
    assert ann.post("/account/tokens/1/revoke").status_code == 303
    assert ann.http.get("/api/v1/me", headers=header).status_code == 401
