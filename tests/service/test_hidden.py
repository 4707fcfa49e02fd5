"""What stays hidden on the site: truth, what was learnt from it, and whatever an entry could say of either."""

from __future__ import annotations

import json
import re
import time

import pytest
from sqlalchemy import select, update

from bciarena.jobs.model import Job
from bciarena.recording import open_recording
from bciarena.recording.folder import KEY
from bciarena.runs.scoring import rescore
from bciarena.service import accounts, contests, results, submissions
from bciarena.service.keeper import work_once
from bciarena.service.models import Contest, Membership, Phase, Result, Submission
from bciarena.service.parts import rounds, terms_of
from tests.service.conftest import packed, write_imagery
from tests.service.test_boards import add_run
from tests.service.test_flow import GOOD, team_with_entry, upload
from tests.service.test_phases import PAST, TALLY, end, phase, season

SPEAKS = """
class Entry:
    def step(self, packet):
        print("told by printing", flush=True)
        self.count = getattr(self, "count", 0) + 1
        if self.count == 30:
            raise ValueError("told by raising")
        return 7_654_321
"""


LEAKS = """
from pathlib import Path
found = Path("model/labels.txt")
if found.exists():
    raise ImportError("told at loading: " + found.read_text())

class Entry:
    def step(self, packet):
        return None
"""
LEARNS = """
from pathlib import Path

def train(data, out):
    (Path(out) / "labels.txt").write_text(" ".join(sorted(path.name for path in Path(data).rglob("*.npz"))))
"""


@pytest.mark.parametrize("truth", ["hidden", "public"])
def test_an_entry_cannot_tell_what_it_has_learnt_by_failing_to_load(sqlite_town, tmp_path, truth):
    """Nor where it is played on public recordings: those it learnt from are not."""
    town = sqlite_town
    write_imagery(town.settings.home / "data" / "olga" / "hiddenset", subjects=1, blocks=1)
    learns = {"mode": "labelled", "sets": {"cali_A": "olga/hiddenset"}}
    season(town, {"name": "preliminary", "truth": truth, "calibration": learns})
    ann, olga = town.person("ann"), town.person("olga")
    _, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", LEAKS, train=LEARNS))
    run = ann.api("POST", "/submissions", json={"version_id": version, "contest": "spring"}).json()["id"]
    town.play()
    assert "told at loading: block_1.npz" in olga.api("GET", f"/submissions/{run}").json()["reason"]
    seen = ann.api("GET", f"/submissions/{run}").json()
    assert (seen["verdict"], seen["reason"]) == ("import_error", "")
    assert "told at loading" not in ann.get(f"/runs/{run}").text
    for path in (
        f"/runs/{run}/logs/stderr.txt",
        f"/runs/{run}/ledger",
        f"/runs/{run}/report",
        f"/runs/{run}/score.json",
    ):
        assert ann.get(path).status_code in (403, 404), path


@pytest.mark.parametrize("output", ["hidden", "shown"])
def test_what_an_entry_says_of_hidden_recordings_can_be_kept_from_its_team(sqlite_town, tmp_path, output):
    """Its next version could answer at the first sample what this one found out with care."""
    town = sqlite_town
    season(town, {"name": "preliminary", "output": output})
    ann, olga = town.person("ann"), town.person("olga")
    team, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", SPEAKS))
    run = ann.api("POST", "/submissions", json={"version_id": version, "contest": "spring"}).json()["id"]
    while_it_runs = [f"/runs/{run}", f"/runs/{run}/state", f"/teams/{team}", f"/entries/{entry}"]
    halfway = {"packets": 371, "total_packets": 742, "reports": 7654321}
    with town.site.session(writes=True) as session:
        session.execute(update(Job).values(state="leased", leased_until=time.time() + 60, progress=halfway))
        session.commit()
    for person, sees in ((ann, output == "shown"), (olga, True)):
        answers = [person.get(path) for path in while_it_runs]
        assert {answer.status_code for answer in answers} <= {200} | ({404} if person is olga else set())
        assert any("7654321" in answer.text for answer in answers) is sees
    with town.site.session(writes=True) as session:
        session.execute(update(Job).values(state="queued", leased_until=None, progress=None))
        session.commit()
    town.play()
    pages = [
        f"/runs/{run}",
        f"/runs/{run}/state",
        f"/runs/{run}/logs/stdout.txt",
        f"/runs/{run}/ledger",
        f"/teams/{team}",
    ]
    calls = [f"/submissions/{run}", f"/submissions/{run}/logs", f"/submissions/{run}/ledger", "/submissions"]
    secrets = ("told by printing", "told by raising", "7654321", "30 reports", "ms median")

    def told(person) -> list[str]:
        text = "".join(person.get(path).text for path in pages)
        text += "".join(person.api("GET", path).text for path in calls)
        return [one for one in secrets if one in text]

    assert told(olga) != []
    assert bool(told(ann)) is (output == "shown")
    seen = ann.api("GET", f"/submissions/{run}").json()
    assert seen["verdict"] == "crashed"
    assert bool(seen["reason"]) is (output == "shown")
    assert ("shown to the organisers only" in ann.get(f"/runs/{run}").text) is (output == "hidden")


@pytest.mark.parametrize("truth", ["hidden", "public"])
def test_a_ledgers_digest_of_recordings_does_not_tell_their_hidden_truth(sqlite_town, tmp_path, truth):
    """Whoever has the samples could else try labels until the digest is the same."""
    town = sqlite_town
    season(town, {"name": "preliminary", "truth": truth})
    ann, olga = town.person("ann"), town.person("olga")
    _, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", GOOD))
    run = ann.api("POST", "/submissions", json={"version_id": version, "contest": "spring"}).json()["id"]
    town.play()
    told = json.loads(ann.get(f"/runs/{run}/ledger").text.splitlines()[0])["data"]
    with town.site.session(writes=False) as session:
        one = phase(session, "preliminary")
        folder, plain = town.site.storage.fetch(one.data), one.data_about["order"]["folder"]
        played = town.site.storage.fetch(submissions.current_result(session, session.get_one(Submission, run)).run)
    assert (told == open_recording(plain).digest) is (truth == "public")
    assert told == open_recording(folder).digest  # what the jury gets: there it can be recomputed
    assert (folder / KEY).exists() is (truth == "hidden")
    score = olga.api("GET", f"/submissions/{run}").json()["score"]
    assert rescore(played, folder, "imagery/1")["score"] == pytest.approx(score)


def test_others_write_while_recordings_are_prepared_runs_scored_and_intervals_made(sqlite_town, tmp_path, monkeypatch):
    """SQLite has one writer at a time: whoever keeps it while something takes long keeps everybody waiting."""
    town, seen = sqlite_town, []

    def beside(name: str, real):
        def long(*given, **named):
            with town.site.session(writes=True) as other:
                other.connection().exec_driver_sql("PRAGMA busy_timeout = 100")
                other.execute(update(Contest).values(title="Spring"))
                other.commit()
            seen.append(name)
            return real(*given, **named)

        return long

    for name in ("contests.kept_recordings", "results.score_of_run", "results.score_ends"):
        room, function = name.split(".")
        module = {"contests": contests, "results": results}[room]
        monkeypatch.setattr(module, function, beside(name, getattr(module, function)))
    season(town, {"name": "preliminary"})
    ann = town.person("ann")
    _, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", GOOD))
    assert ann.api("POST", "/submissions", json={"version_id": version, "contest": "spring"}).status_code == 201
    town.play()
    with town.site.session(writes=True) as session:
        session.execute(update(Result).values(ends={}))
        session.commit()
    while work_once(town.site):
        pass
    assert set(seen) == {"contests.kept_recordings", "results.score_of_run", "results.score_ends"}


def test_what_an_entry_says_is_kept_back_by_the_phase_form(sqlite_town):
    town = sqlite_town
    season(town, {"name": "preliminary"})
    olga = town.person("olga")
    fields = {"limit": "10", "counts": "best", "board": "public"}

    def kept() -> str:
        with town.site.session(writes=False) as session:
            return terms_of(phase(session, "preliminary")).output

    for given, found in (({"output": "hidden"}, "hidden"), ({}, "hidden"), ({"output": "shown"}, "shown")):
        assert olga.post("/organise/spring/preliminary", {**fields, **given}).status_code == 303
        assert kept() == found
        chosen = re.search(r'<select name="output">.*?value="(\w+)" selected', olga.get("/organise/spring").text)
        assert chosen[1] == found
    assert olga.post("/organise/spring/preliminary", {**fields, "output": "loud"}).status_code == 422


def test_scores_on_hidden_truth_are_rounded_while_the_phase_lasts(sqlite_town):
    """What 18 exact scores with their blocks told of a small set: the whole truth."""
    town = sqlite_town
    season(town, {"name": "preliminary", "scores": "rounded", "counts": "last"})
    member, visitor, olga = town.person("member"), town.visitor(), town.person("olga")
    exact = [23.137, 24.261, 27.519, 30.891, 31.743, 28.627]
    mean = sum(exact) / 6
    with town.site.session(writes=True) as session:
        stage = phase(session, "preliminary")
        add_run(session, stage, "Alpha", [score - 1 for score in exact], 0.5)
        run = add_run(session, stage, "Alpha", exact, 1.0, tally=TALLY, low=24.137, high=31.391)
        end(run, session)
        session.get_one(Job, run.job_id).result = {"score": mean, "tally": TALLY}
        session.add(Membership(team_id=run.team_id, account_id=accounts.account_named(session, "member").id))
        session.commit()
        number, team = run.id, run.team_id

    def told(person) -> str:
        pages = ["/", "/contests/spring", "/contests/spring/preliminary", "/contests/spring/preliminary?sort=score"]
        own = [f"/runs/{number}", f"/runs/{number}/state", f"/teams/{team}", f"/entries/{number}"]
        calls = ["/contests/spring/preliminary/board", f"/submissions/{number}", "/submissions"]
        text = "".join(person.get(path).text for path in pages + own)
        return text + "".join(person.api("GET", path).text for path in calls) if person.name else text

    numbers = [f"{score:.2f}" for score in (mean, mean - 1, *exact)] + ["987", f"{mean:.5f}"[:-1]]
    for person in (member, visitor):
        text = told(person)
        assert not [one for one in numbers if one in text]
    seen = member.api("GET", f"/submissions/{number}").json()
    assert (seen["low"], seen["score"], seen["high"]) == (24, 28, 32)
    assert (seen["metrics"], seen["blocks"], seen["summary"]) == ({}, [], "")
    row = visitor.http.get("/api/v1/contests/spring/preliminary/board").json()["rows"][0]
    assert (row["score"], row["metrics"]) == (seen["score"], {})
    assert "rounded to what their intervals can tell" in member.get(f"/runs/{number}").text
    assert olga.api("GET", f"/submissions/{number}").json()["score"] == pytest.approx(mean)
    with town.site.session(writes=True) as session:
        phase(session, "preliminary").ends_at = PAST
        session.commit()
    assert member.api("GET", f"/submissions/{number}").json()["score"] == pytest.approx(mean)
    assert len(member.api("GET", f"/submissions/{number}").json()["blocks"]) == 6
    row = visitor.http.get("/api/v1/contests/spring/preliminary/board").json()["rows"][0]
    assert row["score"] == pytest.approx(mean)


def test_when_scores_are_rounded():
    stage = Phase(hidden_data=True, revealed=False, terms={}, ends_at=None)
    assert rounds(stage)
    assert not rounds(stage, full=True)
    stage.ends_at, stage.late_until = 100.0, 200.0
    assert [rounds(stage, now=at) for at in (50.0, 150.0, 250.0)] == [True, True, False]
    stage.freezes_at = 90.0
    assert rounds(stage, now=250.0)  # until it is revealed
    stage.revealed = True
    assert not rounds(stage, now=50.0)
    stage.revealed, stage.terms = False, {"scores": "exact"}
    assert not rounds(stage, now=50.0)
    stage.terms, stage.hidden_data = {}, False
    assert not rounds(stage, now=50.0)


def test_runs_of_the_same_people_wait_for_each_other_on_whatever_data(sqlite_town, tmp_path):
    """One that has learnt hidden labels could tell another, whose output its team sees."""
    town = sqlite_town
    write_imagery(town.settings.home / "data" / "olga" / "other", subjects=1, blocks=1)
    season(town, {"name": "practice", "truth": "public", "data": {"folder": "olga/other"}}, {"name": "preliminary"})
    ann = town.person("ann")
    _, entry = team_with_entry(ann)
    version = upload(ann, entry, packed(tmp_path / "p", GOOD))
    for stage in ("practice", "preliminary"):
        order = {"version_id": version, "contest": "spring", "phase": stage}
        assert ann.api("POST", "/submissions", json=order).status_code == 201
    with town.site.session(writes=False) as session:
        first, second = session.scalars(select(Job).order_by(Job.id))
        assert first.payload["data"] != second.payload["data"]
    assert town.site.queue.lease("one", "here") is not None
    assert town.site.queue.lease("two", "here") is None
