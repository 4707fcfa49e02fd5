"""Codes of a page that is not ours, at the time of its frames, as a real LSL stream."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bciarena.lab.bridge import bridge_app
from bciarena.live.streams import CODES, CodesOut, need_lsl
from tests.browser import until
from tests.lab.conftest import serving_app


def test_the_examples_codes_reach_lsl_at_their_frames(page):
    lsl, name, said = need_lsl(), f"bridge-{time.monotonic_ns()}", []
    out = CodesOut(name)
    (info,) = lsl.resolve_streams(timeout=20, name=name + CODES, minimum=1)
    inlet = lsl.StreamInlet(info)
    inlet.open_stream(timeout=20)
    page.add_init_script("window.frames_ms = []; const see = (t) => { window.frames_ms.push(t);"
                         "requestAnimationFrame(see); }; requestAnimationFrame(see);")  # fmt: skip
    with serving_app(bridge_app(out.push, said.append)) as address:
        page.goto(f"{address}/example?trials=5")
        until(page, "window.arena")
        page.evaluate("arena.ready")
        page.evaluate(
            """() => { const { code } = arena; window.stamps = [];
              arena.code = (n) => code(n).then((at) => { window.stamps.push(at); return at; }); }"""
        )
        page.keyboard.press("Space")
        until(page, "document.getElementById('text').textContent === 'Thank you.'")
        stamps = page.evaluate("window.stamps")
        page.evaluate("arena.code('x'); arena.code(300)")
        deadline = time.monotonic() + 20
        while sum("is no code" in text for text in said) < 2 and time.monotonic() < deadline:
            page.wait_for_timeout(50)
        frames_ms = page.evaluate("window.frames_ms")
        codes, times_s = inlet.pull_chunk(timeout=1.0, max_samples=100)
    inlet.close_stream()
    out.close()
    assert np.ravel(codes).tolist() == [242, 1, 1, 1, 1, 2, 243]
    # Every code is stamped with a frame of the page; the clocks' offset is measured again and again on a busy machine.
    assert set(stamps) <= set(frames_ms)
    assert np.ptp(times_s - np.array(stamps) / 1e3) < 0.1
    assert any("is no code" in text for text in said)
    assert page.errors == []


@pytest.mark.parametrize(
    ("origin", "files", "welcome"),
    [("https://elsewhere.example", False, False), ("http://localhost:9", False, True), (None, False, True),
     ("null", False, False), ("null", True, True), ("https://elsewhere.example", True, False)],
)  # fmt: skip
def test_pages_of_other_machines_and_files_are_refused_unless_asked_for(origin, files, welcome):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    with serving_app(bridge_app(lambda code, at_s: None, lambda text: None, files=files)) as address:
        where = address.replace("http", "ws") + "/ws/bridge"
        if not welcome:
            with pytest.raises(InvalidStatus):
                connect(where, origin=origin)
            return
        with connect(where, origin=origin) as line:
            line.send('{"type": "ping", "page_ms": 1}')
            assert '"pong"' in line.recv()
