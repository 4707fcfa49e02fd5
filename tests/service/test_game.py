"""The Turing test's own question: person or machine, asked of visitors and answered by decoders."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta
from sqlalchemy import select

from bciarena.contests import contest
from bciarena.contests.game import Game, Share, of_trials, told
from bciarena.service import games, limits
from bciarena.service.models import Guess
from tests.accessibility import violations
from tests.browser import until
from tests.service.conftest import Town

GAME = contest("turing").part("game", Game)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("game")
    made = Town(folder / "home", f"sqlite:///{folder / 'arena.db'}")
    values = {"slug": "cup", "title": "Cup", "rulebook": "turing/1"}
    phase = {"name": "practice", "truth": "public", "data": {"simulate": {"subjects": 1, "blocks": 1, "seed": 1}}}
    olga = made.person("olga", "organiser")
    assert olga.api("POST", "/contests", json={**values, "phase": [phase]}).status_code == 201
    yield made
    made.close()


def test_saying_nothing_is_neither_right_nor_an_alarm():
    found = told([(True, True), (True, None), (False, True), (False, False), (False, None)])
    assert (found.accuracy, found.sensitivity, found.alarms) == (Share(2, 5), Share(1, 2), Share(1, 3))
    assert told([]).accuracy.value is None
    assert Share(3, 10).interval == pytest.approx((beta.ppf(0.025, 3.5, 7.5), beta.ppf(0.975, 3.5, 7.5)))
    assert (Share(0, 4).interval[0], Share(4, 4).interval[1]) == (0.0, 1.0)


def test_answers_of_a_run_as_person_or_machine():
    rows = [("1", "6", "in_time"), ("7", "7", "in_time"), ("7", "2", "in_time"), ("3", None, "missing"), ("3", "3", "late"), ("7", "9", "in_time"), ("2", "2", "invalid")]  # fmt: skip # noqa: E501
    found = of_trials(GAME, [{"truth": truth, "answer": answer, "status": status} for truth, answer, status in rows])
    assert (found.accuracy, found.sensitivity, found.alarms) == (Share(2, 6), Share(1, 3), Share(1, 3))


def test_scenes_say_nothing_about_who_steers():
    scenes = GAME.scenes(np.random.default_rng(1))
    assert all(set(scene) == {"before", "controlled", "after", "target", "outcome"} for scene, _ in scenes)
    assert {truth for seed in range(20) for _, truth in GAME.scenes(np.random.default_rng(seed))} == {True, False}


def test_a_round_is_counted_once_and_told_only_when_answered(town, monkeypatch):
    visitor = town.visitor()
    page = visitor.get("/contests/cup/game").text
    assert "Person or machine?" in page
    assert "是人还是机器" in visitor.get("/contests/cup/game?lang=zh").text
    assert "export function draw" in visitor.get("/contests/cup/game.js").text
    played = visitor.get("/contests/cup/game/round").json()
    assert "task" not in str(played["scenes"])
    said = "y" * len(played["scenes"])
    for bad in ({"code": "x", "said": said}, {"code": played["code"], "said": said + "y"}, {"code": played["code"], "said": "z" * len(said)}):  # fmt: skip # noqa: E501
        assert visitor.post("/contests/cup/game", bad).status_code == 422
    answer = visitor.post("/contests/cup/game", {"code": played["code"], "said": said}).json()
    people = sum(answer["truth"])
    assert answer["visitors"][0][:2] == [people, len(said)]
    assert visitor.post("/contests/cup/game", {"code": played["code"], "said": said}).status_code == 429
    with town.site.session(writes=False) as session:
        assert sum(session.scalars(select(Guess.count))) == len(said)
    monkeypatch.setattr(games, "ADDRESS", limits.Limit("game-address", 0, 3600))
    fresh = visitor.get("/contests/cup/game/round").json()
    more = visitor.post("/contests/cup/game", {"code": fresh["code"], "said": "n" * len(fresh["scenes"])})
    assert more.status_code == 429
    assert visitor.http.post("/contests/cup/game", data={"code": fresh["code"], "said": "n"}).status_code == 403


def test_the_page_in_a_browser(town, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{town.base}/contests/cup/game")
    until(page, "!document.getElementById('yes').disabled")  # the first scene was seen to its end
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#yes").click()
    assert page.locator("#number").inner_text().startswith("scene 2 of ")
    # What is counted in the browser has the interval of the site.
    page.evaluate("localStorage.setItem('arena-game /contests/cup/game', JSON.stringify({yy: 3, yn: 1, nn: 2}))")
    page.reload()
    until(page, "document.querySelector('#you small')")
    low, high = Share(5, 6).interval
    assert page.locator("#you small").first.inner_text() == f"{100 * low:.0f} – {100 * high:.0f}"
    assert page.errors == []


def test_other_contests_have_no_such_tab(town):
    assert "/contests/cup/game" in town.visitor().get("/contests/cup").text
    town.contest(slug="plain")
    assert "/contests/plain/game" not in town.visitor().get("/contests/plain").text
    assert town.visitor().get("/contests/plain/game").status_code == 404
