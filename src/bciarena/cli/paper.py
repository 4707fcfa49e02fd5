"""arena paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun, Language, Outside, language_of
from bciarena.cli._say import tell


def main(
    runs: Annotated[list[Path], typer.Argument(help="One or more run folders on the same data.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to write.")],
    language: Language = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of --out if it exists.")] = False,
    challenge: Outside = None,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Runs as a paper prints them: LaTeX and CSV tables with intervals and ties, a methods paragraph, citations."""
    from bciarena.bars import working
    from bciarena.contests import known
    from bciarena.report.paper import write_paper

    known(challenge)
    with working("writing"):
        names = [str(out / name) for name in write_paper(runs, out, language_of(language), force)]
    tell(as_json, {"files": names}, *names)
