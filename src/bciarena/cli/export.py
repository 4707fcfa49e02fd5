"""arena export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import DryRun, Outside


def main(
    run: Annotated[Path, typer.Argument(help="A run folder kept by arena run --out.")],
    kind: Annotated[str, typer.Option("--format", help="csv, parquet or json.")] = "csv",
    table: Annotated[str, typer.Option(help="trials, or metrics with their intervals.")] = "trials",
    challenge: Outside = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="The file to write; otherwise printed.")] = None,
    dry_run: DryRun = False,
) -> None:
    """A run as a tidy table, one row per trial or per metric; columns are described in docs/report.md."""
    from bciarena.contests import known
    from bciarena.report.export import export

    known(challenge)
    text = export(run, kind, out, table)
    if text is not None:
        print(text, end="")
