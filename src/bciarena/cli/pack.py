"""arena pack: compiles an entry and packs it for upload."""

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import Image, Requirements


def main(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The entry: its folder, or module.py:Class.")],
    challenge: Annotated[str, typer.Option(help="The contest it is for: name, name/version or folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The .zip or .tar.gz to write.")],
    python: Annotated[str | None, typer.Option(metavar="X.Y", help="The Python to compile with.")] = None,
    entry: Annotated[str | None, typer.Option(metavar="MODULE:CLASS", help="Which class plays.")] = None,
    image: Image = None,
    requirements: Requirements = None,
) -> None:
    """Compile an entry to .pyc and pack it for upload."""
    from bciarena.contests import rulebook
    from bciarena.entries.packing import pack
    from bciarena.plaintext import clean

    done = pack(folder, rulebook(challenge), out, python, entry=entry, image=image, requirements=requirements)
    for warning in done.warnings:
        typer.echo(f"note: {clean(warning)}", err=True)
    typer.echo(f"{done.file}: {len(done.names)} files, {done.file.stat().st_size / 1024:.0f} KiB, Python {done.python}")
    for name in done.names:
        typer.echo(f"  {clean(name)}")
    typer.echo(f"plays {clean(done.target)}; digest {done.digest[:16]}")
