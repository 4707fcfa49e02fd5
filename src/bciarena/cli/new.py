"""arena new: the companion package a contestant starts from."""

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun
from bciarena.cli._say import tell


def main(
    challenge: Annotated[str, typer.Argument(help="A contest: name, name/version or folder.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder to write.")],
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Write the package a contestant starts from: a working sample under the contest's names."""
    from bciarena.contests import rulebook
    from bciarena.entries.companion import write_starter
    from bciarena.entries.engine import PLACE

    book = rulebook(challenge)
    names = write_starter(book, folder)
    engine = PLACE.replace(".", "/") + "/"
    steps = [
        f"arena check {folder} --challenge {challenge}",
        f"arena pack {folder} --challenge {challenge} -o entry.zip",
    ]
    if "main.py" in names:
        steps.insert(0, f"cd {folder} && python main.py    # plays the sample on a small practice set")
    tell(
        as_json,
        {"folder": str(folder), "challenge": book.id, "files": names},
        *(f"  {name}" for name in names if not name.startswith(engine)),
        f"  {engine} (the platform's own rules and referee)",
        f"{folder}: {book.title}. Next:",
        *(f"  {step}" for step in steps),
    )
