"""arena pack: compiles an entry and packs it for upload."""

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun, Image, Requirements
from bciarena.cli._say import say, tell


def main(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The entry: its folder, or module.py:Class.")],
    challenge: Annotated[str, typer.Option(help="The contest it is for: name, name/version or folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The .zip or .tar.gz to write.")],
    python: Annotated[str | None, typer.Option(metavar="X.Y", help="The Python to compile with.")] = None,
    entry: Annotated[str | None, typer.Option(metavar="MODULE:CLASS", help="Which class plays.")] = None,
    image: Image = None,
    requirements: Requirements = None,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Compile an entry to .pyc and pack it for upload."""
    from bciarena.contests import rulebook
    from bciarena.entries.packing import pack

    done = pack(folder, rulebook(challenge), out, python, entry=entry, image=image, requirements=requirements)
    for warning in done.warnings:
        say("note: ", warning, err=True)
    tell(
        as_json,
        {
            "file": str(done.file),
            "files": done.names,
            "python": done.python,
            "target": done.target,
            "digest": done.digest,
            "notes": done.warnings,
        },
        f"{done.file}: {len(done.names)} files, {done.size / 1024:.0f} KiB, Python {done.python}",
        *(f"  {name}" for name in done.names),
        f"plays {done.target}; digest {done.digest[:16]}",
    )
