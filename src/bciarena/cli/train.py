"""arena train: trains an entry on a training folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun, Image, Requirements
from bciarena.cli._say import tell


def main(
    entry_spec: Annotated[
        str, typer.Argument(metavar="ENTRY", help="A folder, .zip, .tar.gz, module.py:Class or a reference @name.")
    ],
    data: Annotated[Path, typer.Option(help="A training folder: one data set, or named sets in it.")],
    challenge: Annotated[
        str | None,
        typer.Option(help="A contest's name, name/version or folder; a reference entry brings its own."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="MODEL", help="The folder to write; default: NAME-model.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of --out if it exists.")] = False,
    sandbox: Annotated[str, typer.Option(help="bwrap, or none to debug your own entry.")] = "bwrap",
    python: Annotated[str | None, typer.Option(metavar="X.Y", help="The Python to run it with.")] = None,
    entry: Annotated[str | None, typer.Option(metavar="MODULE:CLASS", help="Which class learns.")] = None,
    image: Image = None,
    requirements: Requirements = None,
    budget: Annotated[float, typer.Option(metavar="S", help="Wall and CPU seconds it may take.")] = 86400.0,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Train an entry that can learn; arena run --model then plays it with the result."""
    import sys
    import time

    from bciarena.bars import working
    from bciarena.cli._playing import checked, shown_live
    from bciarena.contests import rulebook
    from bciarena.entries.opened import opened
    from bciarena.errors import BadInput
    from bciarena.writing import whole_folder

    book = rulebook(checked.challenge(entry_spec, challenge))
    box = checked.sandbox(sandbox)
    if not data.is_dir():
        raise BadInput(f"{data}: no such data folder")
    if not budget > 0:
        raise BadInput(f"--budget {budget:g}: must be more than 0 seconds")
    with opened(
        entry_spec, book, entry=entry, python=python, image=image, requirements=requirements, sandbox=box
    ) as ready:
        name = ready.package.name
        target = out or Path(name.strip("@").replace(":", "-") + "-model")
        began = time.monotonic()
        shown = shown_live()
        # The folder is made before training, so that one that cannot be written is reported at once.
        with whole_folder(target, force) as beside, working(f"training {name}"):
            names = ready.train(
                data,
                beside,
                budget_s=budget,
                on_output=lambda raw: print(shown(raw), end="", file=sys.stderr, flush=True),
            )
    took_s = time.monotonic() - began
    listed = ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
    tell(
        as_json,
        {"folder": str(target), "files": names, "seconds": round(took_s, 3)},
        f"{target}: {listed} ({took_s:.1f} s)",
    )
