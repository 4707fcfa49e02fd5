"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import time

import pytest

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]


# Per module: while Playwright is open its event loop counts as running, and asyncio.run in other modules would fail.
@pytest.fixture(scope="module")
def browser():
    """A real browser; skipped by name where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: make test installs it")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs Chromium (Debian: apt install chromium)")
    with playwright.sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield window
        window.close()


@pytest.fixture
def page(browser):
    """A new page that remembers its console errors in ``page.errors``."""
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    page = context.new_page()
    page.errors = []
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    context.close()


def until(page, expression: str, wait_s: float = 30.0) -> None:
    """Wait until a JavaScript expression is true; asked from outside, so a strict content policy is no hindrance."""
    end = time.monotonic() + wait_s
    while not page.evaluate(f"() => Boolean({expression})"):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(50)
