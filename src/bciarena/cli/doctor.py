"""arena doctor: what this machine can do."""

from typing import Annotated

import typer


def main(as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False) -> None:
    """Look at this machine: Pythons, the box, programs, optional parts; and say what to do where one is missing."""
    from bciarena.entries.doctor import examine
    from bciarena.plaintext import json_text

    if as_json:
        typer.echo(json_text([line._asdict() for line in examine()]))
        return
    for line in examine():
        typer.echo(f"{line.state:<8} {line.part:<16} {line.found}")
        if line.advice:
            typer.echo(f"{'':<25} -> {line.advice}")
