"""In a real browser: a photodiode made of read-back pixels, and the signal-check page."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from bciarena.bench.parts import wait_for
from bciarena.cli import main
from bciarena.live.amplifier import Wiring
from bciarena.live.check import checked_once, make_check, watched
from bciarena.live.photodiode import read_offset
from bciarena.live.streams import EegOut, need_lsl
from tests.accessibility import violations
from tests.browser import until
from tests.lab.blocks import patient, word_block
from tests.lab.conftest import serving, serving_app
from tests.live.test_signal import AT, BOOK, N

# What a screen makes of the page: the patch's pixels after every drawing, lit from the screen's next refresh on. Its
# refreshes are those that the browser tells any page, not those that the player has made of them.
WATCH = """() => {
  window.seen = []; window.refresh = 0;
  const { stage, player } = window.lab, period = 1000 / player.refreshHz;
  const tick = (stamp) => { window.refresh = stamp; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  const draw = stage.draw.bind(stage);
  stage.draw = (...how) => {
    draw(...how);
    const { canvas, pen } = stage; // its lower right corner is the patch
    const level = pen.getImageData(canvas.width - 4, canvas.height - 4, 1, 1).data[0];
    const late = performance.now() - window.refresh;
    window.seen.push([window.refresh + Math.ceil(Math.max(late, 0.1) / period) * period, level]);
  };
}"""
STALL = """(every_ms) => { window.stalls = setInterval(() => {
  const begin = performance.now(); while (performance.now() - begin < 40);
}, every_ms); }"""
LAG_S = 0.018  # from refresh to light


class Diode:
    """A stream whose second channel is the light of a page's patch, 1000 times a second."""

    def __init__(self, page):
        self.lsl, self.page, self.name, self.seen = need_lsl(), page, f"diode-{time.monotonic_ns()}", []
        info = self.lsl.StreamInfo(self.name, "EEG", 2, 1000, "float32", self.name)
        info.set_channel_names(["Oz", "AUX1"])
        self.outlet, self.sent_s = self.lsl.StreamOutlet(info, max_buffered=60), self.lsl.local_clock()
        self.kept = []
        until(page, "window.lab.player.link.unsureMs < 2")
        self.offset_s = page.evaluate("window.lab.player.link.offsetS")  # one machine has one clock: it does not change

    def push(self):
        """Send the light since the last time, as far as it is settled."""
        self.seen += self.page.evaluate("window.seen.splice(0)")
        until_s = self.lsl.local_clock() - 1.0  # what the page draws now will be light soon
        times = np.arange(self.sent_s, until_s, 0.001)
        if len(times) and self.seen:
            at_s, level = np.array(sorted(self.seen)).T
            light = level[np.searchsorted(at_s / 1e3 + self.offset_s + LAG_S, times).clip(1) - 1]
            self.outlet.push_chunk(np.stack([light * 0, light], 1).astype(np.float32), times[-1])
            self.kept.append((times, light))
            self.sent_s = times[-1] + 0.001

    def until(self, expression, wait_s=60):
        end = time.monotonic() + wait_s
        while not self.page.evaluate(f"() => Boolean({expression})"):
            assert time.monotonic() < end, expression
            self.push()
            self.page.wait_for_timeout(50)


@pytest.mark.parametrize("slow", [1, 4])
def test_a_diode_made_of_read_back_pixels(page, tmp_path, capsys, slow):
    """Over LSL while the block is shown, also by a slow machine whose page is blocked four times a second."""
    log, out = tmp_path / "log.jsonl", tmp_path / "offset.json"
    hub = patient(word_block("A", 1, 1), log)
    with serving(hub) as address:
        page.goto(f"{address}/stage")
        until(page, "window.lab?.player.timeline")
        hub.hear("operator", {"type": "command", "name": "patch"}, lambda message: None)
        page.evaluate(WATCH)
        diode = Diode(page)
        words = ["lab", "verify", "--log", log, "--light", diode.name, "--channel", "aux1", "--json"]
        command = [sys.executable, "-m", "bciarena", *map(str, words)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as verify:
            try:
                wait_for(lambda: diode.outlet.has_consumers, 60, "the light is read")
                if slow > 1:
                    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slow})
                    page.evaluate(STALL, 250)
                hub.hear("operator", {"type": "command", "name": "start"}, lambda message: None)
                diode.until("window.lab.player.running")
                diode.until("!window.lab.player.running")
                end_s = time.monotonic() + 1.5
                while time.monotonic() < end_s:
                    diode.push()
                    page.wait_for_timeout(100)
                verify.send_signal(signal.SIGINT)
                told, said = verify.communicate(timeout=60)
            finally:
                verify.kill()
    assert verify.returncode == 0, said
    found = json.loads(told)
    # A frame drawn in a refresh is lit from the next one on.
    assert found["delay_ms"] == pytest.approx(1e3 / 60 + LAG_S * 1e3, abs=2.0)
    assert found["changes"] > 10
    (key,) = found["keys"]
    assert abs(key["measured_hz"] - key["hz"]) < 0.1
    assert found["missed"] <= 0.1 * found["changes"] + found["frames_dropped"]
    # The same light from a file.
    times, light = map(np.concatenate, zip(*diode.kept, strict=True))
    np.savez(tmp_path / "light.npz", light=light, times_s=times)
    assert main(["lab", "verify", "--log", str(log), "--file", str(tmp_path / "light.npz"), "--out", str(out)]) == 0
    assert "Hz: measured" in capsys.readouterr().out
    assert read_offset(out) == pytest.approx(found["delay_ms"] / 1e3, abs=0.001)


def test_the_page_shows_a_stream_and_its_bad_channel(page, tmp_path):
    name, lsl = f"signal-{time.monotonic_ns()}", need_lsl()
    out, stop, end = EegOut(name, BOOK.channels, BOOK.rate), threading.Event(), threading.Event()
    bad = np.random.default_rng(0).normal(0, 10, (len(BOOK.channels), N))
    bad[AT["T8"]] = 0
    bad[AT["F3"], ::10] = np.nan

    def send():
        begin_s, sent = lsl.local_clock(), 0
        while not end.wait(max(0, begin_s + (sent + 10) / BOOK.rate - lsl.local_clock())):
            out.push(bad[:, sent % N : sent % N + 10], begin_s + (sent + 9) / BOOK.rate)
            sent += 10

    sender = threading.Thread(target=send)
    sender.start()
    try:
        source, watch, thread = watched(BOOK, name, Wiring(), 50.0, stop, lambda text: None)
        found = checked_once(watch, stop)
        faults = {row["name"]: row["faults"] for row in found["channels"] if row["faults"]}
        assert faults["T8"] == ["flat"]
        assert "numbers" in faults["F3"]
        with serving_app(make_check(watch, source.described)) as address:
            page.goto(f"{address}/?lang=zh")
            until(page, "document.getElementById('light').className === 'unfit'")
            assert "平直: T8" in page.inner_text("#wrong")
            assert violations(page) == []
            page.screenshot(path=str(tmp_path / "check.png"), full_page=True)
        assert not page.errors
    finally:
        end.set()
        sender.join()
        stop.set()
        thread.join()
        out.close()
