"""One formula in two languages, and what the screen shows of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bciarena import contests
from bciarena.contests.speller.rules import FREQUENCY_HZ, PHASE_RAD
from bciarena.contests.speller.rules import LUMINANCE as SPELLER_RANGE
from bciarena.contests.turing.rules import LUMINANCE as TURING_RANGE
from bciarena.lab import luminance as lab
from bciarena.lab.luminance import Range, level, luminance, refusal

SPELLER, TURING = Range(*SPELLER_RANGE), Range(*TURING_RANGE)

STATIC = Path(lab.__file__).parent / "static"


def drawn(name):
    """The range a contest's stage draws with: evaluated from the script itself, whose imports need a browser."""
    script = (Path(contests.__file__).parent / name / "stage.js").read_text("utf-8")
    numbers = script.split("export const RANGE = ")[1].split(";")[0]
    return json.loads(subprocess.check_output([shutil.which("node"), "-p", f"JSON.stringify({numbers})"]))


def test_python_and_javascript_agree():
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node to run the page's own formula")
    rng = np.random.default_rng(0)
    cases = [(float(t), float(hz), float(ph)) for t, hz, ph in rng.uniform([0, 6, 0], [5, 40, 7], (500, 3))]
    script = (
        f"import {{luminance, level, refusal}} from '{(STATIC / 'luminance.js').as_uri()}';"
        f"const RANGES = {json.dumps({'speller': drawn('speller'), 'turing': drawn('turing')})};"
        f"const cases = {json.dumps(cases)};"
        "console.log(JSON.stringify({speller: cases.map(c => luminance(...c, RANGES.speller)),"
        "turing: cases.map(c => luminance(...c, RANGES.turing)),"
        "levels: cases.map(c => level(luminance(...c, RANGES.speller))),"
        "refused: [refusal(30, [8, 15.8]), refusal(60, [8, 15.8])]}))"
    )
    told = json.loads(subprocess.check_output([node, "--input-type=module", "-e", script]))
    for name, within in (("speller", SPELLER), ("turing", TURING)):
        assert np.allclose(told[name], [luminance(*case, within) for case in cases], atol=1e-12)
    assert told["levels"] == [level(luminance(*case, SPELLER)) for case in cases]
    assert told["refused"] == [refusal(30, [8, 15.8]), refusal(60, [8, 15.8])]


def test_ranges_are_the_texts():
    values = [luminance(t / 1000, 9.0, 0.0, SPELLER) for t in range(1000)]
    assert min(values) == pytest.approx(0.361, abs=1e-4)
    assert max(values) == pytest.approx(0.5, abs=1e-4)
    values = [2 * luminance(t / 1000, 15.4, 0.0, TURING) - 1 for t in range(1000)]
    assert (min(values), max(values)) == pytest.approx((-0.618, 0.618), abs=1e-3)
    assert luminance(0, 12.0, 0.0, SPELLER) == pytest.approx((0.361 + 0.5) / 2)


def test_a_slow_screen_is_refused_with_the_reason():
    assert refusal(60.0, [8.0, 15.8]) is None
    assert refusal(30.0, [8.0, 15.8]) == "this screen refreshes at 30.0 Hz and can show up to 13.6 Hz, not 15.8 Hz"


def test_pixels_show_the_formula(lab_page):
    """Photometry: canvas read back at known times gives the formula's grey, for every key."""
    for time_s in (0.0, 0.0123, 0.25, 1.7):
        shown = lab_page.evaluate(
            """(timeS) => {
              const { stage } = window.lab;
              stage.draw({ kind: "flicker", params: { key: 1, hz: 8, phase_rad: 0 } }, timeS);
              const ratio = window.devicePixelRatio || 1;
              return stage.keys.map((key) => {
                const cell = key.side / 8;  // column 1, row 0 of the checked grid belongs to the flicker
                const at = stage.pen.getImageData((key.x + 1.5 * cell) * ratio, (key.y + 0.5 * cell) * ratio, 1, 1);
                const still = stage.pen.getImageData((key.x + 0.5 * cell) * ratio, (key.y + 0.5 * cell) * ratio, 1, 1);
                return [at.data[0], still.data[0]];
              });
            }""",
            time_s,
        )
        expected = [level(luminance(time_s, FREQUENCY_HZ[k], PHASE_RAD[k], SPELLER)) for k in range(40)]
        assert [pair[0] for pair in shown] == expected
        assert {pair[1] for pair in shown} == {level(0.5)}  # the background does not flicker
