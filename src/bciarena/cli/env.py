"""arena env: libraries of entries, here and for a site without a package index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import Image, Requirements

app = typer.Typer(no_args_is_help=True, help="Libraries of entries, here and for a site without a package index.")


@app.command("export")
def export(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder for the wheels.")],
    entry: Annotated[list[str] | None, typer.Option("--entry", metavar="ENTRY", help="For this entry.")] = None,
    challenge: Annotated[str | None, typer.Option(help="The challenge of the entries.")] = None,
    image: Image = None,
    requirements: Requirements = None,
    python: Annotated[str | None, typer.Option(metavar="X.Y", help="The Python for --requirements alone.")] = None,
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
    print(f"{out}: {len(names)} wheels; on the other machine: arena env import {out}")


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="A folder written by arena env export.")],
) -> None:
    """Add wheels to this machine's wheelhouse: entries are then installed without a package index."""
    from bciarena.entries.wheelhouse import import_wheels

    names = import_wheels(source)
    print(f"{len(names)} wheels added")


@app.command("images")
def show_images() -> None:
    """List the images that --image and unitImage can name."""
    from bciarena.entries.images import images

    for one in images().values():
        extras = f"; for entries that import it: {', '.join(one.extras)}" if one.extras else ""
        print(f"{one.name}  Python {one.python}: {', '.join(one.packages)}{extras}")
