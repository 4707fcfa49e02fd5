"""arena report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun, Language, Outside, language_of
from bciarena.cli._say import tell


def main(
    run: Annotated[Path, typer.Argument(help="A run folder kept by arena run --out.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write.")] = Path("report.html"),
    figures: Annotated[
        Path | None, typer.Option(help="Also write every figure as SVG and PNG into this folder.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The data folder, if it has moved since the run.")] = None,
    language: Language = None,
    challenge: Outside = None,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """A run as one self-contained page: score, figures, replay."""
    from bciarena.bars import working
    from bciarena.contests import known
    from bciarena.report.page import render
    from bciarena.writing import wanted_file

    known(challenge)
    speaks = language_of(language)
    with working("drawing") as at:
        text = render(run, speaks, data)
        with wanted_file(out) as path:
            path.write_text(text, "utf-8")
        lines = [f"{out}  {len(text.encode()) / 1e6:.1f} MB"]
        if figures is not None:
            from bciarena.report.static_figures import write_figures

            at("drawing the figures")
            lines.append(f"{figures}  {write_figures(run, figures, speaks, data)} figures")
    tell(as_json, {"file": str(out), "figures": str(figures) if figures else None}, *lines)
