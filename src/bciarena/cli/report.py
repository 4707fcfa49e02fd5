"""arena report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import Outside


def main(
    run: Annotated[Path, typer.Argument(help="A run folder kept by arena run --out.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write.")] = Path("report.html"),
    figures: Annotated[
        Path | None, typer.Option(help="Also write every figure as SVG and PNG into this folder.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The data folder, if it has moved since the run.")] = None,
    language: Annotated[str, typer.Option(help="en or zh; the page can switch.")] = "en",
    challenge: Outside = None,
) -> None:
    """A run as one self-contained page: score, figures, replay."""
    from bciarena.contests import known
    from bciarena.report.page import render
    from bciarena.writing import wanted_file

    known(challenge)
    text = render(run, language, data)
    with wanted_file(out) as path:
        path.write_text(text, "utf-8")
    print(f"{out}  {len(text.encode()) / 1e6:.1f} MB")
    if figures is not None:
        from bciarena.report.static_figures import write_figures

        print(f"{figures}  {write_figures(run, figures, language, data)} figures")
