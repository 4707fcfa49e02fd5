"""arena paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import Outside


def main(
    runs: Annotated[list[Path], typer.Argument(help="One or more run folders on the same data.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to write.")],
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of --out if it exists.")] = False,
    challenge: Outside = None,
) -> None:
    """Runs as a paper prints them: LaTeX and CSV tables with intervals and ties, a methods paragraph, citations."""
    from bciarena.contests import known
    from bciarena.report.paper import write_paper

    known(challenge)
    for name in write_paper(runs, out, language, force):
        print(out / name)
