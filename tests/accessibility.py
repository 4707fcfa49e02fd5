"""axe-core in a real page: every rule of WCAG 2.0 to 2.2, levels A and AA, and its best practices."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: Any, without: tuple[str, ...] = ()) -> list[str]:
    """What axe-core finds, a line for each: rule, element, what is wrong. Rules in ``without`` are not asked."""
    package = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python: make test installs it")
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(files(package).joinpath("axe.min.js").read_text("utf-8"))
    off = {rule: {"enabled": False} for rule in without}
    found = page.evaluate(
        "options => axe.run(document, options)",
        {"runOnly": {"type": "tag", "values": TAGS}, "rules": off, "resultTypes": ["violations"]},
    )
    return [
        f"{rule['id']}: {' '.join(node['target'][0]) if isinstance(node['target'][0], list) else node['target'][0]}: "
        f"{' '.join(node['failureSummary'].split())[:300]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
