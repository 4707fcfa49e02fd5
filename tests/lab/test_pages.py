"""The pages in a real browser: the block is played, frames are logged, every challenge has a stage."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time

import pytest

from bciarena.contests.speller.rules import LUMINANCE
from bciarena.lab.luminance import Range, level, luminance
from tests.accessibility import violations
from tests.browser import FLAGS, until
from tests.lab.blocks import patient, plan, word_block
from tests.lab.conftest import serving

STAGE = ("page-has-heading-one", "landmark-one-main", "region")
"""A stimulus has no headings or landmarks: it is one picture, named as such."""


def test_operator_starts_and_the_block_is_played(page, browser, tmp_path):
    hub = patient(word_block("A", 1, 1), tmp_path / "log.jsonl")
    with serving(hub) as address:
        page.goto(f"{address}/stage")
        operator = browser.new_page()
        operator.goto(f"{address}/operator")
        until(operator, "document.getElementById('page').textContent.startsWith('connected')")
        until(page, "window.lab?.player.timeline")
        assert violations(operator) == []
        assert violations(page, without=STAGE) == []
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
    # 2 s of quiet and 1 s of cue; between trials frames that were lost stop the clock
    lost_s = sum(max(0.0, interval - 1000 / hub.refresh_hz) for interval in frames) / 1e3
    assert -0.02 < onset["hub_s"] - first["hub_s"] - 3.0 < lost_s + 0.05
    assert page.errors == []


@pytest.mark.parametrize("challenge", ["speller", "turing", "imagery", "rehab", "liveness"])
def test_every_challenge_has_a_stage(challenge, page, tmp_path):
    timeline = plan(challenge, None, 1, 1, 0, None, None)
    with serving(patient(timeline)) as address:
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
    hub = patient(word_block("AB", 1, 1), tmp_path / "log.jsonl")
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


def operator_page(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/operator")
    until(page, "document.getElementById('page').textContent.startsWith('connected')")
    return page


def message(page, text):
    until(page, f"document.getElementById('message').textContent.includes({text!r})")


def test_two_operators_see_the_same_and_commands_of_each_count(page, browser):
    with serving(patient(word_block("AB", 1, 1))) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        first, second = operator_page(browser, address), operator_page(browser, address)
        for each in (first, second):
            message(each, "2 operators are connected: commands of each count")
        first.click("[data-command=start]")
        until(page, "window.lab.player.running")
        for each in (first, second):
            until(each, "document.querySelector('[data-command=start]').disabled")
        second.click("[data-command=abort]")
        until(page, "!window.lab.player.running")
        for each in (first, second):
            message(each, "aborted")
            assert "2 operators" in each.inner_text("#log")
        second.close()
        until(first, "document.getElementById('operators').textContent === '1'")
        first.close()


def frame_clock(page, hz):
    """A made-up screen: frames come as fast as the machine can, their time stamps as a screen of this rate has them."""
    page.add_init_script(
        f"let at = performance.now() + 1e7; const period = 1000 / {hz};"
        "window.requestAnimationFrame = (draw) => setTimeout(() => draw(at += period), 0);"
    )


def test_a_screen_too_slow_is_refused_on_both_pages_with_a_made_up_frame_clock(page, browser):
    frame_clock(page, 30)
    with serving(patient(plan("speller", None, 1, 1, 0, None, None))) as address:
        page.goto(f"{address}/stage")
        operator = operator_page(browser, address)
        why = "refreshes at 30.0 Hz and can show up to 13.6 Hz, not 15.8 Hz"
        message(operator, why)
        assert why in page.evaluate("window.lab.stage.note")
        operator.click("[data-command=start]")
        message(operator, "cannot start")
        assert not page.evaluate("window.lab.player.running")
        operator.close()


@pytest.mark.parametrize("hz", [120, 240])
def test_fast_screens_with_a_made_up_frame_clock(hz, page, tmp_path):
    """Every frame is a step of the screen's period, every flicker follows the formula at the frame's own time."""
    frame_clock(page, hz)
    hub = patient(word_block("A", 1, 1), tmp_path / "log.jsonl")
    with serving(hub) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        page.evaluate(
            """() => { const { stage } = window.lab, draw = stage.draw.bind(stage); window.seen = [];
              stage.draw = (step, timeS, player) => { draw(step, timeS, player);
                if (step?.kind === 'flicker') window.seen.push([timeS, stage.levels(step, timeS)[0]]); }; }"""
        )
        hub.hear("operator", {"type": "command", "name": "start"}, lambda told: None)
        until(page, "window.lab.player.total > 100 && !window.lab.player.running", 60)
        seen = page.evaluate("window.seen")
    assert hub.refresh_hz == pytest.approx(hz, rel=0.001)
    assert hub.dropped == 0
    assert abs(len(seen) - 4 * hz) <= 1  # 4 s of flicker
    for number, (time_s, shown) in enumerate(seen):
        assert time_s == pytest.approx(number / hz, abs=1e-4)
        assert abs(shown - level(luminance(number / hz, 8.0, 0.0, Range(*LUMINANCE)))) <= 1


def test_frames_left_out_are_counted_with_a_made_up_frame_clock(page, tmp_path):
    page.add_init_script(
        "let at = performance.now() + 1e7, n = 0; window.requestAnimationFrame = (draw) =>"
        "setTimeout(() => draw(at += ++n > 100 && n % 50 === 0 ? 50 : 1000 / 60), 0);"  # every 50th lasts three periods
    )
    hub = patient(word_block("A", 1, 1), tmp_path / "log.jsonl")
    with serving(hub) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        heard = []
        hub.join("watcher", heard.append)
        hub.hear("operator", {"type": "command", "name": "start"}, lambda told: None)
        until(page, "window.lab.player.total > 100 && !window.lab.player.running", 60)
        deadline = time.monotonic() + 5
        while not any(told["type"] == "stopped" for told in heard) and time.monotonic() < deadline:
            time.sleep(0.05)
    stopped = next(told for told in heard if told["type"] == "stopped")
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    gaps = [gap for line in lines if line["type"] == "frames" for gap in line["intervals_ms"]]
    long = sum(gap > 40 for gap in gaps)
    assert long >= 8
    assert stopped["dropped"] == hub.dropped == 2 * long
    assert stopped["frames"] == len(gaps)


def test_the_photodiode_patch_follows_the_flicker(lab_page):
    seen = lab_page.evaluate(
        """() => { const { stage, player } = window.lab, ratio = window.devicePixelRatio || 1;
          const step = { kind: 'flicker', params: { key: 1, hz: 8, phase_rad: 0 } };
          const [x, y] = [stage.canvas.width - 20 * ratio, stage.canvas.height - 20 * ratio];
          const corner = () => stage.pen.getImageData(x, y, 1, 1).data[0];
          stage.draw(step, 0.03, player); const off = corner();
          player.command({ name: 'patch' });
          const at = (_, k) => { stage.draw(step, (k + 0.5) / 256, player); return corner(); };
          return { off, on: Array.from({ length: 64 }, at) }; }"""
    )
    assert seen["off"] == 0
    assert seen["on"] == [255 if (k // 16) % 2 == 0 else 0 for k in range(64)]  # half a period of 8 Hz is 1/16 s


def test_without_its_server_the_page_stops_and_says_so(page):
    with serving(patient(word_block("A", 1, 1))) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        page.evaluate("window.lab.player.command({ name: 'start' })")
        until(page, "window.lab.player.total > 10")
    until(page, "!window.lab.player.running && window.lab.stage.note?.includes('data so far is kept')")


def test_a_second_stimulus_page_takes_over(page, browser):
    with serving(patient(word_block("A", 1, 1))) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        operator = operator_page(browser, address)
        operator.click("[data-command=start]")
        until(page, "window.lab.player.running")
        second = browser.new_page()
        second.goto(f"{address}/stage")
        until(page, "!window.lab.player.running")
        message(operator, "takes over")
        until(second, "window.lab?.player.timeline")
        operator.click("[data-command=start]")
        until(second, "window.lab.player.running")
        assert not page.evaluate("window.lab.player.running")
        for each in (second, operator):
            each.close()


def test_a_machine_without_chinese_letters_says_so_on_both_pages(browser, tmp_path):
    """Chromium with a font configuration of its own: only the fonts that have no Chinese."""
    listed = subprocess.run(["fc-list", ":lang=en", "file"], capture_output=True, text=True, check=True).stdout
    chinese = subprocess.run(["fc-list", ":lang=zh-cn", "file"], capture_output=True, text=True, check=True).stdout
    latin = next(line for line in sorted(listed.splitlines()) if line not in chinese.splitlines()).split(":")[0]
    (tmp_path / "fonts").mkdir()
    shutil.copy(latin, tmp_path / "fonts")
    (tmp_path / "fonts.conf").write_text(
        f"<fontconfig><dir>{tmp_path}/fonts</dir><cachedir>{tmp_path}/cache</cachedir></fontconfig>"
    )
    hub = patient(plan("imagery", None, 1, 1, 0, None, None))
    hub.language = "zh"
    poor = browser.browser_type.launch(
        executable_path=shutil.which("chromium"), args=FLAGS,
        env={**os.environ, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")},
    )  # fmt: skip
    try:
        with serving(hub) as address:
            for window, noticed in ((poor, True), (browser, False)):
                stage, operator = window.new_page(), window.new_page()
                operator.goto(f"{address}/operator")
                stage.goto(f"{address}/stage")
                until(stage, "window.lab?.player.timeline")
                assert ("no font" in (stage.evaluate("window.lab.stage.note") or "")) is noticed
                assert ("no font" in operator.inner_text("#no_font")) is noticed
                stage.close()
                operator.close()
    finally:
        poor.close()
