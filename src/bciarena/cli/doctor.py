"""arena doctor: what this machine can do."""

import json
from typing import Annotated

import typer


def main(as_json: Annotated[bool, typer.Option("--json", help="for programs")] = False) -> None:
    """Look at this machine: Pythons, the box, programs, optional parts; and say what to do where one is missing."""
    from bciarena.entries.doctor import examine

    if as_json:
        typer.echo(json.dumps([line._asdict() for line in examine()], ensure_ascii=False, indent=1))
        return
    for line in examine():
        typer.echo(f"{line.state:<8} {line.part:<16} {line.found}")
        if line.advice:
            typer.echo(f"{'':<25} -> {line.advice}")
