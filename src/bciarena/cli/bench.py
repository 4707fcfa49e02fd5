"""arena bench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def main(
    what: Annotated[
        str,
        typer.Argument(
            help="engine, box, decisions, jobs, site, live, soak, decoders, curves, statistics; default: the first six."
        ),
    ] = "",
    write: Annotated[
        Path | None,
        typer.Option(
            help="Write the rows into this Markdown file, between their marks; decoders, curves: a figure beside it."
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="decoders, curves: a folder with real recordings, as in docs/benchmarks.md.")
    ] = None,
    minutes: Annotated[
        float, typer.Option(help="soak: how long, in real time; statistics: measure no longer, the rest another time.")
    ] = 60.0,
    quick: Annotated[bool, typer.Option("--quick", help="decoders: one simulated person and no peers.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="decoders, curves, statistics: measure again what is kept from before.")
    ] = False,
    stale: Annotated[
        bool,
        typer.Option("--stale", help="decoders, curves: use kept rows, marked, even if their code has changed since."),
    ] = False,
) -> None:
    """Measure: cost of a packet, of a job, of a page; and every decoder on the same recordings."""
    from bciarena.bench.table import run_benches

    run_benches(what, write, data, quick, minutes, fresh, stale)
