"""Finals on stage: nobody plays before it is said, the order is drawn, one machine plays all, nothing is told early."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
import time

import pytest
from sqlalchemy import select

from bciarena.cli import main
from bciarena.cli._feed import Feed
from bciarena.cli._live_final import played
from bciarena.errors import BadInput
from bciarena.jobs.model import Job
from bciarena.jobs.queue import HELD
from bciarena.service import contests, seals, stage
from bciarena.service.keeper import work_once
from bciarena.service.models import Stage, Submission, Team, Version
from tests.accessibility import violations
from tests.browser import until
from tests.service.conftest import Town, packed, write_imagery
from tests.service.test_flow import GOOD, POOR, submit, team_with_entry, upload

HERE = socket.gethostname()
STAGE = "/contests/spring/preliminary/stage"
CONTROLS = "/organise/spring/preliminary/stage"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Two teams whose runs wait for the stage."""
    folder = tmp_path_factory.mktemp("stage")
    made = Town(folder / "home", f"sqlite:///{folder / 'arena.db'}")
    made.contest(stage="replay")
    for name, source in (("Alpha", GOOD), ("Beta", POOR)):
        person = made.person(name.lower())
        _, entry = team_with_entry(person, name)
        submit(person, entry, upload(person, entry, packed(folder / name, source)))
    yield made
    made.close()


def jobs(town: Town) -> list[Job]:
    with town.site.session(writes=False) as session:
        return list(session.scalars(select(Job).order_by(Job.id)))


def settle(town: Town) -> None:
    while work_once(town.site):
        pass


def moved(town: Town, **values) -> None:
    """The projector as if it had been directed so."""
    with town.site.session(writes=True) as session:
        found = session.get_one(Stage, 1)
        for name, value in values.items():
            setattr(found, name, value)
        session.commit()


def test_a_final_from_the_draw_to_the_ranking(town):
    olga, alpha, visitor = town.person("olga"), town.person("alpha"), town.visitor()
    assert {job.only for job in jobs(town)} == {HELD}
    town.play()  # a worker finds nothing to do
    assert {job.state for job in jobs(town)} == {"queued"}
    assert "waits for the stage" in alpha.get("/runs/1").text
    assert olga.post(CONTROLS, {"act": "play", "machine": HERE}).status_code == 409  # not drawn
    for person in (alpha, visitor):
        assert person.get(STAGE).status_code == 404

    assert olga.post(CONTROLS, {"act": "draw", "seed": "dice 3 5 1"}).status_code == 303
    with town.site.session(writes=False) as session:
        names = [session.get_one(Submission, one["run"]).team.name for one in session.get_one(Stage, 1).teams]
    # Anyone can repeat the draw, and so does this.
    assert names == sorted(["Alpha", "Beta"], key=lambda name: hashlib.sha256(f"dice 3 5 1 {name}".encode()).digest())
    assert "dice 3 5 1" in olga.get("/organise/spring/edit").text  # in the history, as every draw
    with town.site.session(writes=True) as session:  # another name would have another place: the draw stays what it was
        session.scalar(select(Team).where(Team.name == "Alpha")).name = "Omega"
        session.commit()
    assert olga.post(CONTROLS, {"act": "play", "machine": HERE}).status_code == 303
    assert olga.post(CONTROLS, {"act": "draw"}).status_code == 409  # too late

    order = []
    for _ in range(2):
        settle(town)
        sent = [job for job in jobs(town) if job.only == HERE and job.state == "queued"]
        assert len(sent) == 1  # one after the other
        order.append(sent[0].team)
        town.play()
    settle(town)
    with town.site.session(writes=False) as session:
        found = session.get_one(Stage, 1)
        assert order == [f"team-{one['team']}" for one in found.teams]
        assert not found.playing
        assert {job.machine for job in jobs(town)} == {HERE}
        made = list(found.seals.values())
    told = olga.get(f"{STAGE}/seals.json").json()
    assert len(told["seals"]) == 2
    for one in made:
        assert seals.is_whole(one, told["key"])
        assert not seals.is_whole({**one, "said": {**one["said"], "score": 100.0}}, told["key"])
        ledger = olga.get(f"/runs/{one['said']['run']}/ledger").content
        assert one["said"]["ledger_sha256"] == hashlib.sha256(ledger).hexdigest()
        assert one["said"]["machine"] == HERE
        assert one["said"]["order"] == names
        assert names[one["said"]["place"] - 1] == one["said"]["team"]
    with town.site.session(writes=True) as session:
        session.scalar(select(Team).where(Team.name == "Omega")).name = "Alpha"
        session.commit()


def test_nothing_is_told_before_it_was_shown(town):
    olga, alpha, visitor = town.person("olga"), town.person("alpha"), town.visitor()
    assert visitor.get(f"{STAGE}/run/0?from=0&to=9").status_code == 404
    olga.post(CONTROLS, {"act": "open", "value": "now"})
    assert STAGE in visitor.get("/contests/spring/preliminary").text
    assert visitor.get(STAGE).status_code == 200
    olga.post(CONTROLS, {"act": "next"})
    moved(town, since=None, shown_s=9.0)
    part = alpha.get(f"{STAGE}/run/0?from=0&to=500").json()
    assert part["to_s"] == pytest.approx(9.0, abs=0.1)
    assert all(one[0] <= 9.0 for name in ("opened", "over", "answers") for one in part[name])
    assert [one[1] for one in part["over"]] == [1]  # trials of 6 s: one is over, the second is not told
    assert len(base64.b64decode(part["traces"])) == part["samples"] * len(part["channels"])
    assert alpha.get(f"{STAGE}/run/1?from=0&to=9").status_code == 404  # not yet on stage
    state = visitor.get(f"{STAGE}/state").json()
    assert [team["score"] for team in state["teams"]] == [None, None]
    assert state["ranking"] is None
    assert visitor.get(f"{STAGE}/seals.json").json()["seals"] == []
    # The organiser may look ahead; and the last moment's score is the run's own.
    whole = olga.get(f"{STAGE}/run/0?from=0&to=900").json()
    more = olga.get(f"{STAGE}/run/0?from=600&to=1200").json() if whole["total_s"] > 600 else {"over": []}
    run = json.loads(olga.get("/runs/1/score.json").text)
    with town.site.session(writes=False) as session:
        first = session.get_one(Stage, 1).teams[0]["run"]
    last = [*whole["over"], *more["over"]][-1]
    own = run if first == 1 else json.loads(olga.get(f"/runs/{first}/score.json").text)
    assert last[5] == pytest.approx(own["score"])
    for bad in ("/run/x", "/run/0?from=-1", "/run/0?from=nan", "/run/99999"):
        assert alpha.get(STAGE + bad).status_code == 404
    for _ in range(3):
        olga.post(CONTROLS, {"act": "next"})
    state = visitor.get(f"{STAGE}/state").json()
    assert [row["team"] for row in state["ranking"]] == ["Alpha", "Beta"]
    assert all(team["score"] is not None for team in state["teams"])
    olga.post(CONTROLS, {"act": "open", "value": "replay"})
    assert visitor.get(f"{STAGE}/run/1?from=0&to=9").json()["to_s"] == 9.0
    assert olga.post(CONTROLS, {"act": "speed", "value": "7"}).status_code == 422
    assert olga.post(CONTROLS, {"act": "speed", "value": "5"}).status_code == 303
    assert alpha.post(CONTROLS, {"act": "next"}).status_code == 403


def test_its_pages_can_be_used_by_everybody(town, browser):
    """After the finals of the tests before: as a replay, on a phone and on a projector."""
    cookie = town.person("olga").http.cookies["arena"]
    for width, scheme in ((390, "dark"), (1600, "light")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        context.add_cookies([{"name": "arena", "value": cookie, "url": town.base}])
        page = context.new_page()
        for path in (STAGE, CONTROLS, "/organise/spring/preliminary/jury"):
            page.goto(town.base + path)
            if path == STAGE:
                until(page, "document.querySelector('#board li') && !document.getElementById('own').hidden")
            assert violations(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        context.close()


def test_a_teams_package_plays_live_in_a_box_only(tmp_path):
    """A plan may have been made for trying things out."""
    plan = tmp_path / "plan.toml"
    keys = 'challenge = "speller"\nsubject = 6\nout = "s"\nstream = "x"\nsandbox = "none"\n'
    plan.write_text(keys + '[[part]]\nsplit = "test"\nblocks = [1]\n')
    version = Version(package="file-0", about={}, filename="p.zip")
    with pytest.raises(BadInput, match="plays in a box only"):
        played(None, version, plan, "run-1", True, "127.0.0.1", 0, threading.Event(), print)


def test_the_clock_of_the_projector():
    one = Stage(shown_s=10.0, since=100.0, speed=5.0)
    assert stage.shown_s(one, 102.0) == 20.0
    one.since = None
    assert stage.shown_s(one, 500.0) == 10.0


def test_a_machine_does_nothing_else_while_the_stage_is_played(sqlite_town):
    """The queue itself: a job for one machine is begun there alone, and keeps others from beginning there."""
    queue = sqlite_town.site.queue
    usual = queue.put("noop", {}, team="a")
    first = queue.lease("w", "stage-pc")
    lone = queue.put("noop", {}, team="b", only="stage-pc")
    more = queue.put("noop", {}, team="c")
    assert (first.job, queue.lease("w", "stage-pc")) == (usual, None)  # it waits until the other has ended
    other = queue.lease("w", "elsewhere")
    assert other.job == more  # another machine goes on, and never takes it
    assert queue.lease("w", "elsewhere") is None
    queue.release(first)
    assert queue.lease("w", "stage-pc").job == lone
    assert queue.lease("w", "stage-pc") is None
    assert queue.lease("w", "elsewhere").job == usual


def test_a_phase_waits_for_its_session_and_may_be_live_only_with_a_stage(sqlite_town, tmp_path):
    town = sqlite_town
    town.contest(slug="late", stage="replay", data={"live": True})
    with town.site.session(writes=False) as session:
        phase = contests.contest_named(session, "late").phases[0]
        assert contests.phase_state(phase) == "preparing"
        assert contests.unprepared(session) == []
    where = ["--home", str(town.settings.home), "--database", town.settings.database]
    assert main(["stage", "record", "late", "preliminary", str(write_imagery(tmp_path / "set", 1, 1, 6)), *where]) == 0
    with town.site.session(writes=False) as session:
        assert contests.phase_state(contests.contest_named(session, "late").phases[0]) == "open"
    for bad in ({"data": {"live": True}}, {"stage": "live"}, {"data": {"live": True, "folder": "x"}, "stage": "live"}):
        with pytest.raises(BadInput):
            town.contest(slug="bad", **bad)


def test_runs_played_elsewhere_are_taken_as_what_they_are(sqlite_town, tmp_path, capsys):
    """Each team on recordings of its own: the package is the team's, the score is made anew, nobody is compared."""
    town = sqlite_town
    town.contest(stage="live", data={"live": True})
    folders = {}
    for name, source in (("Alpha", GOOD), ("Beta", POOR)):
        person = town.person(name.lower())
        _, entry = team_with_entry(person, name)
        path = packed(tmp_path / name, source)
        submit(person, entry, upload(person, entry, path))
        data, folders[name] = write_imagery(tmp_path / f"data-{name}", 1, 1, 6), tmp_path / f"run-{name}"
        assert main(["run", str(path), "--challenge", "imagery", "--data", str(data), "--out", str(folders[name])]) == 0
    olga = town.person("olga")
    attach = ["stage", "attach", "spring", "preliminary"]
    where = ["--home", str(town.settings.home), "--database", town.settings.database]
    assert main([*attach, str(folders["Alpha"]), "--team", "Alpha", *where]) == 2
    assert "no order was drawn" in capsys.readouterr().err
    assert olga.post(CONTROLS, {"act": "draw", "seed": "dice 1"}).status_code == 303
    assert [row["name"] for row in olga.get(f"{STAGE}/state").json()["teams"]] == ["Alpha", "Beta"]
    assert olga.post(CONTROLS, {"act": "play", "machine": HERE}).status_code == 409  # each for itself
    assert main([*attach, str(folders["Beta"]), "--team", "Alpha", *where]) == 2
    assert "is not a run of Alpha's package" in capsys.readouterr().err
    told = folders["Alpha"] / "score.json"
    honest = told.read_text("utf-8")
    told.write_text(honest.replace('"score":', '"score": 999, "x":', 1), "utf-8")  # what a folder says is not believed
    # The order drawn is kept; what departs from it has a reason, which everybody reads.
    assert main([*attach, str(folders["Beta"]), "--team", "Beta", *where]) == 2
    assert "it is the turn of Alpha" in capsys.readouterr().err
    assert main([*attach, str(folders["Beta"]), "--team", "Beta", "--out-of-turn", "a train is late", *where]) == 0
    assert main([*attach, str(folders["Alpha"]), "--team", "Alpha", *where]) == 0
    assert main([*attach, str(folders["Alpha"]), "--team", "Alpha", *where]) == 2
    assert "has played already" in capsys.readouterr().err
    settle(town)
    for why, code in (("", 422), ("the amplifier\nfell down", 303)):
        assert olga.post(CONTROLS, {"act": "repeat", "team": "Alpha", "why": why}).status_code == code
    assert olga.post(CONTROLS, {"act": "draw"}).status_code == 409  # what was played is not drawn again
    assert main([*attach, str(folders["Alpha"]), "--team", "Alpha", *where]) == 0
    settle(town)
    assert olga.post("/runs/1/rerun").status_code == 409  # without a reason nothing is played again
    told = olga.get(f"{STAGE}/seals.json").json()
    # Nothing but the folder says how it was played; what is signed says so.
    departed = [[one["what"] for one in seal["said"]["departures"]] for seal in told["seals"]]
    assert departed == [["attached", "again", "attached"], ["early", "attached"]]
    assert [one["said"]["team"] for one in told["repeated"]] == ["Alpha"]
    assert all(seals.is_whole(one, told["key"]) for one in told["seals"] + told["repeated"])
    state = olga.get(f"{STAGE}/state?lang=zh").json()
    brought = "由运行文件夹 run-{} 带入：并非由本站运行，也未重新运行"
    assert [row["departures"] for row in state["teams"]] == [
        [brought.format("Alpha"), "重新上场：the amplifier fell down", brought.format("Alpha")],
        ["未按顺序出场：a train is late", brought.format("Beta")],
    ]
    history = olga.get("/organise/spring/edit?lang=zh").text
    assert "初赛: 上场" in history
    assert "Beta: 未按顺序出场：a train is late" in history
    assert "the amplifier fell down" in olga.get("/organise/spring/preliminary/jury?lang=en").text
    board = olga.get("/api/v1/contests/spring/preliminary/board").json()
    assert [row["team"] for row in board["rows"]] == ["Alpha", "Beta"]
    assert board["rows"][0]["score"] == pytest.approx(json.loads(honest)["score"])
    with town.site.session(writes=False) as session:
        rows = town.site.boards.of(session, contests.contest_named(session, "spring").phases[0], True).rows
        assert not any(row.tested for row in rows[1:])  # other recordings: nothing to compare
    for _ in range(2):
        olga.post(CONTROLS, {"act": "next"})
    assert olga.get(f"{STAGE}/run/0?from=0&to=30").json()["answers"]
    assert olga.get("/runs/1/report").status_code == 200  # with its own recordings
    assert len(olga.get(f"{STAGE}/seals.json").json()["seals"]) == 2
    assert main(["contest", "jury", "spring", "preliminary", "--out", str(tmp_path / "pack"), *where]) == 0
    assert (tmp_path / "pack" / "data-run-1").is_dir()


def test_what_a_live_run_does_is_told_to_the_projector(sqlite_town):
    """The feed hears what the lab's hub says; what it makes of it is seen by those who may see the stage."""
    town = sqlite_town
    town.contest(stage="live", data={"live": True})
    with town.site.session(writes=True) as session:
        session.add(Stage(phase_id=1, seed="x", teams=[], open_to="now"))
        session.commit()
    feed = Feed(town.site, 1, "Alpha", "imagery/1", "http://127.0.0.1:9")
    feed.hear({"type": "traces", "channels": ["C3", "C4"], "rate": 25, "data": [[1.0, 2.0], [3.0, 4.0]]})
    for practice in (True, False):  # what is shown before the block is no trial
        feed.hear({"type": "status", "practice": practice})
        feed.hear({"type": "step", "code": 201 if practice else 0, "hub_s": 90.0})
    for code, value, at_s in (
        (201, "201", 1.0),
        (202, "203", 1.0),
        (203, "203", 5.0),
        (201, None, 0.0),
        (202, "202", 2.0),
    ):
        feed.hear({"type": "step", "code": code, "hub_s": 100.0})
        if value:
            feed.hear({"type": "answer", "value": value, "sample_s": 100.0 + at_s})
    for kind in ("void", "stopped"):  # a trial that could not be shown is none; the end of a block ends its last one
        feed.hear({"type": "step", "code": 203, "hub_s": 100.0})
        feed.hear({"type": kind})
    assert [(one.status, one.correct) for one in feed._trials] == [
        ("in_time", True), ("in_time", False), ("late", False), ("missing", False), ("in_time", True),
        ("missing", False),
    ]  # fmt: skip
    with feed:
        until = time.monotonic() + 20
        while not (live := town.visitor().get(f"{STAGE}/state").json()["live"]) and time.monotonic() < until:
            time.sleep(0.1)
    assert (live["team"], live["right"], live["trials"]) == ("Alpha", 2, 6)
    assert live["answers"][-1] == {"mark": "right", "en": live["answers"][-1]["en"], "zh": "右手"}
    assert town.visitor().get(f"{STAGE}/state").json()["live"] is None  # over
