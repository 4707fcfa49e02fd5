"""The pages in a real browser: the block is played, frames are logged, every challenge has a stage."""

from __future__ import annotations

import json
import time

import pytest

from bciarena.lab.hub import Hub
from bciarena.lab.plans import plan, word_block
from tests.browser import until
from tests.lab.conftest import serving


def test_operator_starts_and_the_block_is_played(page, browser, tmp_path):
    hub = Hub(word_block("A", 1, 1), tmp_path / "log.jsonl")
    with serving(hub) as address:
        page.goto(f"{address}/stage")
        operator = browser.new_page()
        operator.goto(f"{address}/operator")
        until(operator, "document.getElementById('page').textContent.startsWith('connected')")
        until(page, "window.lab?.player.timeline")
        operator.click("[data-command=patch]")
        operator.click("[data-command=start]")
        until(page, "window.lab.player.total > 200")
        assert page.evaluate("window.lab.stage.patch")
        operator.click("[data-command=abort]")
        until(operator, "document.getElementById('message').textContent.startsWith('aborted')")
        operator.close()
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    frames = [f for line in lines if line["type"] == "frames" for f in line["intervals_ms"]]
    assert len(frames) > 200
    steps = [line for line in lines if line["type"] == "step"]
    # the page's clock and the hub's agree: steps are stamped before they are heard, and not long before
    for line in steps:
        assert -0.005 < line["at_s"] - line["hub_s"] < 2.0
    onset = next(line for line in steps if line["code"] == 1)
    first = next(line for line in steps if line["code"] == 242)
    assert onset["hub_s"] - first["hub_s"] == pytest.approx(3.0, abs=0.05)  # 2 s of quiet and 1 s of cue
    assert page.errors == []


@pytest.mark.parametrize("challenge", ["speller", "turing", "imagery", "rehab", "liveness"])
def test_every_challenge_has_a_stage(challenge, page, tmp_path):
    timeline = plan(challenge, None, 1, 1, 0, None, None)
    with serving(Hub(timeline)) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        kinds = {step.kind for step in timeline.steps}
        page.evaluate(
            """(kinds) => {
              const { stage, player } = window.lab;
              for (const kind of kinds) stage.draw(player.steps.find((s) => s.kind === kind), 0.3, player);
            }""",
            sorted(kinds),
        )
        bright = page.evaluate(
            "() => { const c = document.getElementById('stage');"
            "return c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
            ".some((v, i) => i % 4 < 3 && v > 120) }"
        )
        assert bright
    assert page.errors == []


def test_a_page_comes_back_after_a_reload(page, tmp_path):
    hub = Hub(word_block("AB", 1, 1), tmp_path / "log.jsonl")
    with serving(hub) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        hub.hear("operator", {"type": "command", "name": "start"}, lambda message: None)
        until(page, "window.lab.player.index >= 3")
        page.reload()
        until(page, "window.lab?.player.timeline")
        deadline = time.monotonic() + 5
        while "went away" not in hub.message and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "data so far is kept" in hub.message
        assert page.evaluate("window.lab.player.steps[window.lab.player.index].kind") == "cue"
