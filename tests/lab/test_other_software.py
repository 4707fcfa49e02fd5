"""The snippets of docs/lab.md for other stimulus software, in that software: taken from the page, run as they stand."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from bciarena.lab.bridge import bridge_app
from tests.browser import until
from tests.lab.conftest import serving_app
from tests.realdata import ABSENT

PACKAGES = ("jspsych@8.3.0", "@jspsych/plugin-image-keyboard-response@2.2.0", "lab.js@20.2.4")
DOCS = Path(__file__).parents[2] / "docs" / "lab.md"
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs="
# The frames that the browser tells a page, and the times of codes; `window.shown` is what the software says itself.
SEE = """window.frames_ms = []; window.stamps = []; window.shown = [];
(function see(t) { if (t) window.frames_ms.push([t, performance.now()]); requestAnimationFrame(see); })();
addEventListener("DOMContentLoaded", () => {
  const { code } = arena;
  arena.code = (...how) => code(...how).then((at) => { window.stamps.push(at); return at; });
});"""
PAGES = {
    "jsPsych": """<script src="/jspsych/dist/index.browser.js"></script>
<script src="/plugin-image-keyboard-response/dist/index.browser.js"></script>
<script>const trial = { ...SNIPPET, trial_duration: 200 };
const { on_load } = trial; // called when the picture is on the page
trial.on_load = () => { window.shown.push(performance.now()); on_load(); };
arena.ready.then(() => initJsPsych({ on_finish: () => { document.title = "over"; } }).run([trial, trial, trial]));
</script>""",
    "lab.js": """<script src="/lab.js/dist/lab.js"></script><div class="container" data-labjs-section="main"></div>
<script>arena.ready.then(() => {
  const screens = [0, 1, 2].map(() => { const screen = SNIPPET; screen.options.timeout = 200; return screen; });
  const study = new lab.flow.Sequence({ content: screens });
  study.on("end", () => {
    window.shown = screens.map((screen) => screen.internals.timestamps.render);
    document.title = "over";
  });
  return study.run(); });</script>""",
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """The packages as npm has them."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("npm")
    if npm is None:
        pytest.skip(f"needs npm for jsPsych and lab.js; {ABSENT}")
    got = subprocess.run([npm, "pack", "--silent", *PACKAGES], cwd=folder, capture_output=True, text=True, timeout=120)
    if got.returncode:
        pytest.skip(f"npm cannot reach its registry for jsPsych and lab.js; {ABSENT}")
    for file in folder.glob("*.tgz"):
        with tarfile.open(file) as packed:
            packed.extractall(folder / file.stem, filter="data")
    found = {}
    for path in folder.glob("*/package"):
        name = re.search(r'"name": "(?:@jspsych/)?([^"]+)"', (path / "package.json").read_text())[1]
        found[name] = path
    return found


def snippet(software):
    """What the docs say, with a picture that is there."""
    row = re.search(rf"^\| {re.escape(software)} \| `(.+)` \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    return row[1].replace("a.png", PIXEL)


@pytest.mark.parametrize("software", sorted(PAGES))
def test_the_documented_snippet_marks_every_trial_at_a_frame(software, libraries, page):
    codes, said, app = [], [], FastAPI()
    with serving_app(bridge_app(lambda code, at_s: codes.append((code, at_s)), said.append)) as bridge:
        text = f'<script src="{bridge}/bridge.js"></script>' + PAGES[software].replace("SNIPPET", snippet(software))
        app.get("/")(lambda: HTMLResponse(f"<!doctype html><link rel=icon href='data:,'><body>{text}</body>"))
        for name, path in libraries.items():
            app.mount(f"/{name}", StaticFiles(directory=path))
        page.add_init_script(SEE)
        with serving_app(app) as address:
            page.goto(address)
            until(page, "document.title === 'over'")
            frames, shown, stamps = page.evaluate("[window.frames_ms, window.shown, window.stamps]")
            deadline = time.monotonic() + 20
            while len(codes) < 3 and time.monotonic() < deadline:
                page.wait_for_timeout(50)
    assert [code for code, _ in codes] == [1, 1, 1], said
    if software == "lab.js":  # it says itself which frame it drew in
        late = [(at - frame) / (1e3 / 60) for at, frame in zip(stamps, shown, strict=True)]  # by a busy machine
        assert late == pytest.approx([max(0, round(frames)) for frames in late], abs=0.05)
        assert min(late) == pytest.approx(0, abs=0.05)
    else:  # drawn between frames: the next one shows it
        nexts = [next(frame for frame in frames if frame[1] > at) for at in shown]
        late = [(called - stamp) // (1e3 / 60) * 1e3 / 60 for stamp, called in nexts]  # by a busy machine
        assert stamps == pytest.approx([stamp + by for (stamp, _), by in zip(nexts, late, strict=True)], abs=1.5)
    assert page.errors == []
