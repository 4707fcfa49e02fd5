"""A final in which a team plays live: the command, the lab's page and the projector, with the virtual subject."""

from __future__ import annotations

import json
import socket
import subprocess
import time

import pytest

from bciarena.service import contests
from bciarena.service.keeper import work_once
from bciarena.service.spec import parse
from tests.browser import until
from tests.lab.conftest import free_port
from tests.service.conftest import Town
from tests.service.test_browser import shot
from tests.service.test_season import ARENA, PLAN, QUICK, enter, settled
from tests.service.test_season import town as town

pytestmark = pytest.mark.realtime
STAGE, CONTROLS = "/contests/season/final/stage", "/organise/season/final/stage"


def live_final(town: Town):
    """A contest with nothing but a live final."""
    olga = town.person("olga", "organiser")
    phase = {"name": "final", "stage": "live", "data": {"live": True}}
    spec = {"slug": "season", "title": "The season", "title_zh": "赛季", "rulebook": "speller/1", "phase": [phase]}
    with town.site.session(writes=True) as session:
        from bciarena.service.accounts import account_named

        contests.create(session, account_named(session, "olga"), parse(spec, "test"), town.settings.data_roots)
    work_once(town.site)
    return olga


def test_a_team_plays_live(town, tmp_path, page, browser):
    olga, visitor = live_final(town), town.visitor()
    _, run = enter(town, "Alpha", QUICK, tmp_path)
    assert olga.post(CONTROLS, {"act": "draw"}).status_code == 303
    olga.post(CONTROLS, {"act": "open", "value": "now"})
    plan, port = tmp_path / "plan.toml", free_port()
    plan.write_text(PLAN.format(stream=f"final-{time.monotonic_ns()}"))
    words = ["stage", "live", "season", "final", str(plan), "--team", "Alpha", "--virtual", "--port", str(port)]
    projector = browser.new_context(viewport={"width": 1600, "height": 900}, locale="zh-CN").new_page()
    projector.goto(town.base + STAGE)
    with subprocess.Popen([*ARENA, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as playing:
        try:
            end = time.monotonic() + 120
            while time.monotonic() < end:
                with socket.socket() as line:
                    if line.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.3)
            page.goto(f"http://127.0.0.1:{port}/stage")
            until(projector, "document.getElementById('place').textContent === '现场'", 120)
            until(projector, "Number(document.getElementById('trial').textContent) > 0", 120)
            shot(projector, "stage-live-zh", whole=False)
            assert projector.locator("#who").inner_text() == "Alpha"
            told, end = {}, time.monotonic() + 240
            while playing.poll() is None and time.monotonic() < end:
                told = visitor.get(f"{STAGE}/state").json()["live"] or told
                time.sleep(0.3)
            said, _ = playing.communicate(timeout=240)
            assert playing.returncode == 0, said
        finally:
            playing.kill()
    settled(town)
    score = json.loads(olga.get(f"/runs/{run}/score.json").text)
    played = [one for one in score["trials"] if one["status"] != "invalid"]
    assert told["trials"] == len(played) == 2
    assert told["right"] == sum(one["correct"] for one in played)  # how many depends on how busy the machine is
    assert told["score"] == pytest.approx(score["score"], rel=0.05)  # to within a packet or two a trial
    assert visitor.get(f"{STAGE}/state").json()["live"] is None
    olga.post(CONTROLS, {"act": "next"})
    assert visitor.get(f"{STAGE}/seals.json").json()["seals"] == []  # on the screen, not over yet
    olga.post(CONTROLS, {"act": "next"})
    sealed = visitor.get(f"{STAGE}/seals.json").json()["seals"]
    assert [(one["said"]["team"], one["said"]["score"]) for one in sealed] == [("Alpha", score["score"])]
    until(projector, "document.body.classList.contains('rest')")
    shot(projector, "stage-live-outcome-zh", whole=False)
    projector.context.close()
