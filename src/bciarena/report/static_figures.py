"""The figures as files, for papers and slides. Drawn by the page's own script in Chromium, so they look the same."""

from __future__ import annotations

import base64
import shutil
import tempfile
from pathlib import Path

from bciarena.errors import BadInput
from bciarena.report.page import render
from bciarena.writing import wanted_file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]
DRAW = """async ([name, format]) => {
  const place = document.getElementById('figure-' + name);
  const url = await window.Plotly.toImage(place, {format, width: 1000, height: place.clientHeight || 420, scale: 2});
  return url;
}"""


def write_figures(run: Path, folder: Path, language: str = "en", data: Path | None = None) -> int:
    """Write every figure of a run as SVG and PNG; returns how many figures there were."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BadInput("--figures needs playwright: pip install playwright") from None
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise BadInput("--figures needs Chromium to draw with (Debian: apt install chromium)")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
        page_file = Path(scratch) / "report.html"
        page_file.write_text(render(run, language, data), "utf-8")
        window = driver.chromium.launch(executable_path=browser, args=FLAGS)
        page = window.new_page(viewport={"width": 1100, "height": 900})
        page.goto(page_file.as_uri())
        page.evaluate("window.drawAll()")
        names = page.eval_on_selector_all(".plot", "plots => plots.map(plot => plot.id.slice(7))")
        for name in names:
            for kind in ("svg", "png"):
                url = page.evaluate(DRAW, [name, kind])
                with wanted_file(folder / f"{name}.{kind}") as path:
                    path.write_bytes(_decoded(url))
        window.close()
    return len(names)


def _decoded(url: str) -> bytes:
    from urllib.parse import unquote_to_bytes

    head, body = url.split(",", 1)
    return base64.b64decode(body) if head.endswith("base64") else unquote_to_bytes(body)
