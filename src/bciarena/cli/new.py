"""arena new: the companion package a contestant starts from."""

from pathlib import Path
from typing import Annotated

import typer


def main(
    challenge: Annotated[str, typer.Argument(help="A contest: name, name/version or folder.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder to write.")],
) -> None:
    """Write the package a contestant starts from: a working sample under the contest's names."""
    from bciarena.contests import rulebook
    from bciarena.entries.companion import write_starter

    book = rulebook(challenge)
    for name in write_starter(book, folder):
        typer.echo(f"  {name}")
    typer.echo(f"{folder}: {book.title}. Next:")
    if (folder / "main.py").is_file():
        typer.echo(f"  cd {folder} && python main.py    # plays the sample on a small practice set")
    typer.echo(f"  arena check {folder} --challenge {challenge}")
    typer.echo(f"  arena pack {folder} --challenge {challenge} -o entry.zip")
