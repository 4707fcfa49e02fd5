"""arena open: a run in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, Language, Outside, language_of
from bciarena.cli._say import tell

NAME = "open"


def main(
    run: Annotated[
        str, typer.Argument(help="A run folder, a page that was written, or the number of a run on your site.")
    ],
    data: Annotated[Path | None, typer.Option(help="The data folder, if it has moved since the run.")] = None,
    language: Language = None,
    challenge: Outside = None,
    as_json: AsJson = False,
) -> None:
    """Show a run's page in the browser; where there is none, say where the page is."""
    address = _address(run, data, language, challenge)
    opened = _browse(address)
    words = f"{address}: opened in the browser" if opened else f"{address}: no browser here; open it on another machine"
    tell(as_json, {"address": address, "opened": opened}, words)


def _address(run: str, data: Path | None, language: str | None, challenge: str | None) -> str:
    if run.isdecimal() and not Path(run).exists():
        from bciarena.service.client import Client

        return f"{Client.signed_in().site}/runs/{run}"
    path = Path(run)
    if path.suffix == ".html" and path.is_file():
        return path.resolve().as_uri()
    return _page(path, data, language_of(language), challenge).resolve().as_uri()


def _page(run: Path, data: Path | None, language: str, challenge: str | None) -> Path:
    """The run's page in the cache folder, drawn again only when the run has changed."""
    import glob
    import hashlib

    import bciarena
    from bciarena.bars import working
    from bciarena.contests import known
    from bciarena.places import cache_folder
    from bciarena.report.page import render
    from bciarena.runs import RunFolder
    from bciarena.writing import whole_file

    known(challenge)
    folder = RunFolder(run)
    folder.score()  # says what is wrong with a folder that is no run
    named = "\n".join(f"{path.name} {path.stat().st_mtime_ns}" for path in sorted(run.iterdir()))
    key = hashlib.sha256(f"{bciarena.__version__} {language} {run.resolve()}\n{named}".encode()).hexdigest()[:16]
    page = cache_folder() / "pages" / f"{run.resolve().name}-{key}.html"
    if not page.is_file():
        with working("drawing"):
            text = render(run, language, data)
        for old in page.parent.glob(f"{glob.escape(run.resolve().name)}-{'?' * 16}.html"):
            old.unlink()
        with whole_file(page) as beside:
            beside.write_text(text, "utf-8")
    return page


def _browse(address: str) -> bool:
    """Whether a browser with a window was found; a terminal's own would take the terminal away."""
    import os
    import sys
    import webbrowser

    windows = sys.platform != "linux" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    if not windows and "BROWSER" not in os.environ:
        return False
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
