"""The report page of a run, made once and kept."""

from __future__ import annotations

import os
import threading
from importlib.metadata import version
from pathlib import Path

from bciarena.service.models import Submission
from bciarena.service.site import Site

KEPT = 200
_making = threading.Lock()  # one at a time: however many ask for a page at once, it is drawn once


def report_page(site: Site, submission: Submission, run: str, lang: str) -> str:
    """The report as HTML; run folders never change, so a page is made once per language and version of ours."""
    kept = site.settings.home / "reports" / f"{run}.{lang}.{version('bciarena')}.html"
    page = _read(kept)
    if page is None:
        with _making:
            page = _read(kept) or _make(site, submission, run, lang, kept)
    return page


def _read(kept: Path) -> str | None:
    try:
        return kept.read_text("utf-8")
    except FileNotFoundError:
        return None


def _make(site: Site, submission: Submission, run: str, lang: str, kept: Path) -> str:
    from bciarena.report.page import render

    html = render(site.storage.fetch(run), lang, site.storage.fetch(submission.phase.data))
    kept.parent.mkdir(exist_ok=True)
    beside = kept.with_suffix(f".{os.getpid()}.part")
    beside.write_text(html, "utf-8")
    os.replace(beside, kept)
    pages = sorted(kept.parent.glob("*.html"), key=lambda path: path.stat().st_mtime)
    for path in pages[:-KEPT]:
        path.unlink(missing_ok=True)
    return html
