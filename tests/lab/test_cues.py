"""What a subject is told to do can be told apart, and only by what it says."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.contests import rulebook
from bciarena.lab.trials import trials_of
from bciarena.protocol import timelines
from tests.browser import until
from tests.lab.blocks import patient
from tests.lab.conftest import serving

SETS = [("imagery", "train"), ("rehab", "train"), ("speller", "test"), ("turing", "test"), ("turing", "train")]
BRIGHT = """(steps) => { const { stage, player } = window.lab;
  return steps.map((step) => { stage.begin(player.timeline, player); stage.draw(step, 0.3, player);
    const { width, height } = stage.canvas, { data } = stage.pen.getImageData(0, 0, width, height);
    let [hash, sum, x, n] = [0, 0, 0, 0];
    for (let i = 0; i < data.length; i += 4) {
      const v = data[i] + data[i + 1] + data[i + 2];
      hash = (hash * 31 + v) | 0; sum += v;
      if (v > 200) { x += (i / 4) % width; n += 1; }
    }
    return [hash, sum, x / n / width]; }); }"""


@pytest.mark.parametrize(("name", "split"), SETS)
def test_cues_differ_by_class_and_by_nothing_else(name, split, page):
    book = rulebook(name)
    blocks = timelines(name, split)[:2]
    cues, tasks = {}, {}
    for block in blocks:
        steps = [step.as_json() for step in block.steps]
        for trial in trials_of(steps, book.opens):
            truth = book.truth[steps[trial.opening]["code"]]
            cues.setdefault(truth, steps[trial.begin])
            if "limb" in steps[trial.opening]["params"]:
                tasks.setdefault(truth, steps[trial.opening])
    with serving(patient(blocks[0])) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        shown = page.evaluate(BRIGHT, list(cues.values()))
        assert len({hash_ for hash_, _, _ in shown}) >= len(book.vocabulary if name != "turing" else cues)
        field = "game" in next(iter(cues.values()))["params"]  # robots stand where the game put them
        for each in () if field else (cues, tasks):
            limbs = [seen for step, seen in zip(each.values(), page.evaluate(BRIGHT, list(each.values())), strict=True)
                     if "limb" in step["params"]]  # fmt: skip
            if limbs:
                light = np.array([sum_ for _, sum_, _ in limbs])
                assert np.ptp(light) < 0.002 * light.mean()  # edges of a turned shape
                assert np.ptp([x for _, _, x in limbs]) < 0.02  # neither side of the screen is lit more
    assert page.errors == []
