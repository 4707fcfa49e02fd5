"""The report page of a run, made once and kept."""

from __future__ import annotations

import os
from pathlib import Path

from bciarena.service.models import Submission
from bciarena.service.site import Site

KEPT = 200


def report_page(site: Site, submission: Submission, run: str, lang: str) -> str:
    """The report as HTML; run folders never change, so a page is made once per language."""
    from bciarena.report.page import render

    folder = site.settings.home / "reports"
    kept = folder / f"{run}.{lang}.html"
    try:
        return kept.read_text("utf-8")
    except FileNotFoundError:
        html = render(site.storage.fetch(run), lang, site.storage.fetch(submission.phase.data))
    folder.mkdir(exist_ok=True)
    beside = kept.with_suffix(f".{os.getpid()}.part")
    beside.write_text(html, "utf-8")
    os.replace(beside, kept)
    _trim(folder)
    return html


def _trim(folder: Path) -> None:
    pages = sorted(folder.glob("*.html"), key=lambda path: path.stat().st_mtime)
    for path in pages[:-KEPT]:
        path.unlink(missing_ok=True)
