"""arena bench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def main(
    what: Annotated[
        str, typer.Argument(help="engine, box, jobs, site, decoders, or all but decoders if left out.")
    ] = "",
    write: Annotated[
        Path | None, typer.Option(help="Put the rows into this Markdown file, between their marks.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="decoders: a folder with real recordings, as in docs/benchmarks.md.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="decoders: fewer subjects and no peers.")] = False,
) -> None:
    """Measure: cost of a packet, of a job, of a page; and every decoder on the same recordings."""
    from bciarena.bench.table import run_benches

    run_benches(what, write, data, quick)
