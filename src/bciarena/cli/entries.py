"""arena entries: our own reference entries."""

from typing import Annotated

import typer


def main(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False) -> None:
    """List the reference entries that every command takes by name."""
    from bciarena.entries.reference import references
    from bciarena.plaintext import json_text

    known = references()
    if as_json:
        rows = [
            {"name": item.name, "challenge": item.challenge, "needs_model": item.needs_model, "about": item.about}
            for item in known
        ]
        typer.echo(json_text(rows))
        return
    for item in known:
        need = "train first" if item.needs_model else "no training"
        typer.echo(f"{item.name:<19} {item.challenge:<9} {need:<12} {item.about}")
