"""Draws the pictures of README and docs, and the site's preview for links, from a running demo and two running labs.

make run &
arena lab speller --port 8010 & arena lab turing --port 8020 &
python scripts/pictures.py http://127.0.0.1:8000 http://127.0.0.1:8010 http://127.0.0.1:8020 docs/figures
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright

SIZE = {"width": 1100, "height": 700}
PREVIEW = Path(__file__).parents[1] / "src/bciarena/service/static/preview.png"
CARD = """<body style="margin:0;width:1200px;height:630px;background:#0b6b6a;color:#fff;display:flex;
flex-direction:column;justify-content:center;padding:0 90px;box-sizing:border-box;
font:34px/1.4 system-ui,'Noto Sans',sans-serif">
<svg viewBox="0 0 38 22" width="300" style="margin-bottom:30px"><path fill="none" stroke="#fff" stroke-width="1.6"
stroke-linecap="round" stroke-linejoin="round" d="M1 11h7l3-7 5 15 5-17 4 13 3-4h9"/></svg>
<b style="font-size:84px;letter-spacing:-2px">BCI Arena</b><span>EEG decoders, judged online: packet by packet,
by the rules of the contest.</span></body>"""
"""What a link to the site looks like elsewhere."""


def board(open_in: BrowserContext, site: str) -> Page:
    page = open_in.new_page()
    page.goto(f"{site}/contests/demo-speller/board")
    return page


def report(open_in: BrowserContext, site: str) -> Page:
    page = open_in.new_page()
    page.goto(f"{site}/contests/demo-imagery/practice")
    page.get_by_role("link", name="Arena reference").click()
    page.get_by_role("link", name="Full report").click()
    return page


def stage(open_in: BrowserContext, lab: str) -> Page:
    """The subject's screen a few seconds into a block."""
    page, operator = open_in.new_page(), open_in.browser.new_page()  # a window each: neither may be hidden
    page.goto(f"{lab}/stage")
    operator.goto(f"{lab}/operator")
    page.wait_for_timeout(2000)
    if operator.locator("#confirm").count():  # the screen flickers: somebody has to say that the subject was told
        operator.check("#confirm")
        page.keyboard.press("Enter")  # and the subject agrees to the warning
        page.wait_for_timeout(500)
    operator.click("[data-command=start]")
    page.wait_for_timeout(9000)
    return page


def main(site: str, speller: str, turing: str, out: str) -> None:
    wanted = {"board": (board, site), "report": (report, site), "speller": (stage, speller), "turing": (stage, turing)}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        card = browser.new_page(viewport={"width": 1200, "height": 630})
        card.set_content(CARD)
        card.screenshot(path=PREVIEW)
        for name, (draw, address) in wanted.items():
            context = browser.new_context(viewport=SIZE)
            page = draw(context, address)
            page.wait_for_timeout(2000)
            page.screenshot(path=Path(out) / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
