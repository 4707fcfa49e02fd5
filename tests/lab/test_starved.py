"""A page that gets no frames shows nothing, and says so: no step is caught up, a spoilt trial is void.

The screen's clock is made up, so that minutes pass quickly and frames are lost where the test wants them lost; it runs
ahead of the page's, so that none of its frames is late. One test has the real clock.
"""

from __future__ import annotations

import json

import pytest

from bciarena.bench.parts import wait_for
from bciarena.contests.trial import VOID
from tests.browser import until
from tests.lab.blocks import patient, rounds_block, word_block
from tests.lab.conftest import serving

CLOCK = (
    "window.at = performance.now() + 1e7; window.frameN = 0; const sent = WebSocket.prototype.send; window.codes = [];"
    "WebSocket.prototype.send = function (text) { const m = JSON.parse(text);"
    "  if (m.type === 'step' && m.code) window.codes.push([window.frameN, m.code]); sent.call(this, text); };"
    "window.requestAnimationFrame = (draw) =>"
    "  setTimeout(() => { window.frameN += 1; draw(window.at += 1000 / 60); }, 0);"
)
HERE = "window.lab.player.steps[window.lab.player.index]"
OVER = "!window.lab.player.running && window.lab.player.total > 0"


class Lab:
    def __init__(self, page, hub, address):
        self.page, self.hub, self.codes = page, hub, hub.heard
        if hub.made_up:
            page.add_init_script(CLOCK)
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")

    def command(self, name):
        self.hub.hear("operator", {"type": "command", "name": name}, lambda told: None)

    def when(self, expression, action):
        """Do something on the first frame on which an expression is true, before the page knows of the frame."""
        self.page.evaluate(
            "([expression, action]) => { const { stage } = window.lab, draw = stage.draw.bind(stage); let done = false;"
            "const [is, act] = [new Function('return ' + expression), new Function(action)];"
            "stage.draw = (...all) => { draw(...all); if (!done && is()) { done = true; act(); } }; }",
            [expression, action],
        )

    def over(self, state):
        """Wait until the page has stopped, and the hub has heard of it."""
        until(self.page, OVER, 120)
        wait_for(lambda: self.hub.state == state, 120, state)

    def held(self):
        until(self.page, "window.lab.player.held === 'operator'", 60)
        wait_for(lambda: self.hub.state == "paused", 120, "paused")

    def one_code_a_frame(self):
        frames = [frame for frame, _ in self.page.evaluate("window.codes")]
        assert len(set(frames)) == len(frames)


@pytest.fixture
def lab(page, tmp_path):
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(timeline, made_up=True, **more):
            heard = []
            log = tmp_path / "log.jsonl"
            hub = patient(timeline, log, lambda code, at_s: heard.append(code), **{"lost_ms": 100.0} | more)
            hub.heard, hub.made_up = heard, made_up
            return Lab(page, hub, stack.enter_context(serving(hub)))

        yield start
        assert page.errors == []


def test_frames_lost_in_a_flicker_and_in_a_rest(lab, tmp_path):
    it = lab(word_block("ABC"), repeat=True)
    it.when(f"{HERE}.code === 1", "window.at += 9000")
    it.when(f"{HERE}.code === 241 && window.codes.at(-2)[1] === 2", "window.at += 20000")  # between B and C
    it.command("start")
    it.over("finished")
    assert it.codes == [242, 1, VOID, 2, 241, 3, 241, 1, 241, 243]
    it.one_code_a_frame()
    assert list(it.hub.void) == [0]
    assert "trial 1 is void: 9" in str(list(it.hub.messages))
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    steps = {line["index"]: line["hub_s"] for line in lines if line["type"] == "step"}
    kinds = [it.hub.steps[index]["kind"] for index in steps]
    # The void trial's feedback is never shown; every flicker has its cue before it.
    assert kinds.count("feedback") == 3
    assert all(kinds[k - 1] == "cue" for k, kind in enumerate(kinds) if kind == "flicker")
    # 4 s of flicker in every valid trial: the 20 s without frames lie in a rest.
    flickers = [index for index in steps if it.hub.steps[index]["kind"] == "flicker" and index + 1 in steps]
    for index in flickers:
        assert steps[index + 1] - steps[index] == pytest.approx(4.0, abs=0.05)
    # Every frame's time stands in the log.
    frames = [line for line in lines if line["type"] == "frames"]
    assert all(line["from_s"] is not None for line in frames)


def test_pause_abort_and_a_hidden_page_where_trials_follow_each_other(lab):
    it = lab(rounds_block(1, seed=2))
    trials = len(it.hub.trials)
    assert trials >= 4
    it.when(f"{HERE}.kind === 'action'", "window.lab.player.command({ name: 'pause' })")
    it.command("start")
    it.held()
    begun = list(it.codes)
    assert begun[-1] == 241
    shown = it.page.evaluate("[window.lab.player.frames.length + window.lab.player.total, window.lab.stage.note]")
    it.page.wait_for_timeout(500)
    assert it.codes == begun  # some minutes of the made-up clock: the block's own stands still
    assert shown[1] == "paused"
    it.when(
        f"{HERE}.code === {it.hub.steps[it.hub.opening[1]]['code']}", "window.lab.player.command({ name: 'abort' })"
    )
    it.command("resume")
    it.over("aborted")
    assert it.codes[-2:] == [it.hub.steps[it.hub.opening[1]]["code"], VOID]
    it.when(
        "window.lab.player.index > window.lab.player.trials[2][1]",
        "Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
        "document.dispatchEvent(new Event('visibilitychange'))",
    )
    it.command("start")
    it.held()
    assert "hidden" in str(list(it.hub.messages))
    assert it.codes[-1] == VOID
    it.command("resume")
    it.over("finished")
    it.one_code_a_frame()
    openings = [it.hub.steps[k]["code"] for k in it.hub.opening]
    assert [code for code in it.codes if code in openings] == openings  # each once, none left out
    assert it.codes.count(VOID) == 2
    assert sorted(it.hub.void) == [1, 2]
    assert it.codes.count(240) == trials
    assert it.codes.count(241) == trials - 2


def test_any_key_stops_at_once_and_the_warning_comes_first(lab):
    it = lab(word_block("A"), confirmed=False)
    it.command("start")
    assert "warn the subject" in it.hub.message
    it.hub.hear("operator", {"type": "confirm", "value": True}, print)
    it.command("start")
    assert "has not yet confirmed" in it.hub.message
    assert it.page.is_visible("#care")
    it.page.keyboard.press("Space")
    until(it.page, "document.getElementById('care').hidden")
    it.when(
        f"{HERE}.kind === 'flicker'",
        "window.dispatchEvent(new KeyboardEvent('keydown', { key: 'x' }));"
        "const { pen, canvas } = window.lab.stage;"  # read before any further frame
        "const pixels = pen.getImageData(0, 0, canvas.width, canvas.height * 0.4).data;"
        "window.lit = pixels.filter((v, i) => i % 4 < 3 && v).length",
    )
    it.command("start")
    it.over("stopped")
    assert it.page.evaluate("window.lit") == 0
    assert it.codes == [242, 1, VOID]
    it.command("start")
    it.over("finished")
    assert it.codes == [242, 1, VOID, 243]


def test_a_page_blocked_before_a_step_does_not_send_its_code_for_a_frame_that_is_past(lab, tmp_path):
    """The real clock, on a slow machine. The browser then tells the page the time of the frame it should have drawn."""
    it = lab(word_block("A"), made_up=False, repeat=True, lost_ms=400.0)
    it.page.context.new_cdp_session(it.page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    it.when(
        f"{HERE}.kind === 'cue' && window.lab.player.last - window.lab.player.shownAt > 975",
        "setTimeout(() => { const begin = performance.now(); while (performance.now() - begin < 1000);"
        "  window.lab.block = [begin, performance.now()]; }, 0)",
    )
    it.command("start")
    it.over("finished")
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    begin, end = it.page.evaluate("window.lab.block")
    assert not [line for line in lines if line["type"] == "step" and begin - 20 < line["page_ms"] < end - 50]
    assert 0 in it.hub.void  # its cue stood for two seconds
    assert it.codes[-3:] == [1, 241, 243]  # shown again
    assert it.codes[0] == 242
