"""arena doctor: what this machine can do."""

from typing import Annotated

import typer


def main(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    timing: Annotated[bool, typer.Option("--timing", help="Only what disturbs clocks: cores, load, noise.")] = False,
) -> None:
    """Examine this machine (Pythons, the box, programs, optional parts) and say what to do about what is missing."""
    from bciarena.doctor import examine
    from bciarena.doctor.timing import examine_timing
    from bciarena.plaintext import json_text

    lines = examine_timing() if timing else examine()
    if as_json:
        typer.echo(json_text([line._asdict() for line in lines]))
        return
    for line in lines:
        typer.echo(f"{line.state:<8} {line.part:<16} {line.found}")
        if line.advice:
            typer.echo(f"{'':<25} -> {line.advice}")
