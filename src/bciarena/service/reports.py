"""The report page of a run, made once and kept."""

from __future__ import annotations

import threading
from importlib.metadata import version
from pathlib import Path

from bciarena.service.site import Site
from bciarena.writing import whole_file

KEPT = 200
_making = threading.Lock()  # one at a time: a page that many ask for at once is made once


def report_page(site: Site, data: str, run: str, lang: str) -> str:
    """The report as HTML; ``data`` and ``run`` are stored names. Neither ever changes, so a page is made once per
    language and version of bciarena.
    """
    kept = site.settings.home / "reports" / f"{run}.{lang}.{version('bciarena')}.html"
    page = _read(kept)
    if page is None:
        with _making:
            page = _read(kept) or _make(site, data, run, lang, kept)
    return page


def _read(kept: Path) -> str | None:
    try:
        return kept.read_text("utf-8")
    except FileNotFoundError:
        return None


def _make(site: Site, data: str, run: str, lang: str, kept: Path) -> str:
    from bciarena.report.page import render

    html = render(site.storage.fetch(run), lang, site.storage.fetch(data))
    with whole_file(kept) as beside:
        beside.write_text(html, "utf-8")
    pages = sorted(kept.parent.glob("*.html"), key=lambda path: path.stat().st_mtime)
    for path in pages[:-KEPT]:
        path.unlink(missing_ok=True)
    return html
