"""arena session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._say import give

app = typer.Typer(help="A subject through all blocks of an experiment.", no_args_is_help=True)


@app.callback()
def main() -> None:
    """A subject through all blocks of an experiment."""


@app.command()
def run(
    plan: Annotated[Path, typer.Argument(help="What is to be done, as TOML (docs/lab.md).")],
    virtual: Annotated[
        bool, typer.Option("--virtual", help="A virtual subject instead of a person and a headset.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port of the pages.")] = 8010,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Show, record and decode what a plan names; started again, it goes on where it was cut off."""
    from bciarena.cli.live import _say, _stop
    from bciarena.session.plan import read_plan
    from bciarena.session.running import run_session

    read = read_plan(plan)
    try:
        told = run_session(read, virtual=virtual, host=host, port=port, stop=_stop(), say=_say)
    except KeyboardInterrupt:
        _say(f"stopped; everything recorded is kept. arena session run {plan} goes on with the next trial")
        raise typer.Exit(130) from None
    give(told)
