"""arena env: libraries of entries, here and for a site without a package index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun, Image, Requirements
from bciarena.cli._say import give, say, tell

app = typer.Typer(no_args_is_help=True, help="Libraries of entries, here and for a site without a package index.")


@app.command("export")
def export(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder for the wheels.")],
    entry: Annotated[list[str] | None, typer.Option("--entry", metavar="ENTRY", help="For this entry.")] = None,
    challenge: Annotated[str | None, typer.Option(help="The challenge of the entries.")] = None,
    image: Image = None,
    requirements: Requirements = None,
    python: Annotated[str | None, typer.Option(metavar="X.Y", help="The Python for --requirements alone.")] = None,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Collect the wheels that entries or an image need, for arena env import on another machine."""
    from bciarena.contests import rulebook
    from bciarena.entries.environments import interpreter_for, libraries_for
    from bciarena.entries.package import open_entry
    from bciarena.entries.wheelhouse import export_wheels
    from bciarena.errors import BadInput

    folders = []
    for spec in entry or []:
        if not challenge:
            raise BadInput("--challenge is missing: say which rules the entries play by")
        with open_entry(spec, rulebook(challenge)) as package:
            folders.append(interpreter_for(package, python, image=image, requirements=requirements).readable[-1])
    if not folders:
        folders = [libraries_for(image, requirements, python)]
    names = export_wheels(folders, out)
    told = f"{out}: {len(names)} wheels; on the other machine: arena env import {out}"
    tell(as_json, {"folder": str(out), "wheels": names}, told)


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="A folder written by arena env export.")],
    as_json: AsJson = False,
) -> None:
    """Add wheels to this machine's wheelhouse: entries are then installed without a package index."""
    from bciarena.entries.wheelhouse import import_wheels

    names = import_wheels(source)
    tell(as_json, {"wheels": names}, f"{len(names)} wheels added")


@app.command("images")
def show_images(as_json: AsJson = False) -> None:
    """List the images that --image and unitImage can name."""
    from dataclasses import asdict

    from bciarena.entries.images import images

    if as_json:
        give([asdict(one) for one in images().values()])
        return
    for one in images().values():
        extras = f"; for entries that import it: {', '.join(one.extras)}" if one.extras else ""
        say(f"{one.name}  Python {one.python}: {', '.join(one.packages)}{extras}")
