"""Sizes in degrees at the subject's eye, in every experiment, from two numbers given once."""

from __future__ import annotations

from math import pi, tan

import pytest

from bciarena.bench.parts import wait_for
from tests.browser import until
from tests.lab.blocks import patient, plan
from tests.lab.conftest import serving

LOOK = {"cue": "arrow", "distance_cm": 60, "width_cm": 53}
SIZE = {"width": 1920, "height": 1080}


def pixels(angle):
    return 2 * 60 * tan(angle * pi / 360) * SIZE["width"] / 53


# What is drawn in the middle of a cue: how far its own colour reaches to both sides.
SPAN = """(kind) => { const { stage, player } = window.lab, { width, height } = stage.canvas;
  stage.draw(player.steps.find((step) => step.kind === kind), 0, player);
  const row = stage.pen.getImageData(0, height / 2, width, 1).data, lit = [];
  for (let x = 0; x < width; x++) if (row[4 * x + 2] > 150 && row[4 * x + 2] > row[4 * x] + 30) lit.push(x);
  return lit.at(-1) - lit[0] + 1; }"""
MEASURES = {
    "speller": ("window.lab.stage.keys[0].side", 3, 8),  # whole pixels of its eight cells
    "turing": ("window.lab.stage.side", 5, 1),
    "imagery": (f"({SPAN})('cue')", 3, 4),
    "rehab": (f"({SPAN})('cue')", None, 0),
}


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_sizes_follow_distance_and_screen(name, page):
    expression, angle, about = MEASURES[name]
    page.set_viewport_size(SIZE)
    sizes = {}
    for far, look in (("unknown", {"cue": "arrow"}), ("near", LOOK), ("far", LOOK | {"distance_cm": 40})):
        block = plan(name)
        with serving(patient(block, look=look)) as address:
            page.goto(f"{address}/stage")
            until(page, "window.lab?.player.timeline")
            sizes[far] = page.evaluate(expression)
            text = page.evaluate("parseFloat(document.body.style.getPropertyValue('--text'))")
            assert text == pytest.approx(0.026 * 1080 if far == "unknown" else pixels(0.7) * look["distance_cm"] / 60)
    if angle:
        assert sizes["near"] == pytest.approx(pixels(angle), abs=about)
    assert sizes["far"] / sizes["near"] == pytest.approx(40 / 60, rel=0.06)
    assert page.errors == []


def test_a_page_too_small_for_its_keys_is_told(page):
    hub = patient(plan("speller"), look=LOOK | {"width_cm": 30})
    with serving(hub) as address:
        page.goto(f"{address}/stage")  # 30 cm are 28 degrees: ten keys of 3 do not fit with room between them
        until(page, "window.lab?.player.timeline")
        until(page, "window.lab.stage.cramped", 5)
        wait_for(lambda: "the page is too small: 3° were wanted" in str(list(hub.messages)), 20, "told")
