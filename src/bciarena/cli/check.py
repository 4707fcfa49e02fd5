"""arena check: what would go wrong with an entry?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, Image, Requirements
from bciarena.cli._say import give, say


def main(
    entry_spec: Annotated[
        str, typer.Argument(metavar="ENTRY", help="A folder, .zip, .tar.gz, module.py:Class or a reference @name.")
    ],
    challenge: Annotated[
        str | None, typer.Option(help="A contest's name, name/version or folder; a reference entry brings its own.")
    ] = None,
    python: Annotated[str | None, typer.Option(metavar="X.Y", help="The Python to run it with.")] = None,
    entry: Annotated[str | None, typer.Option(metavar="MODULE:CLASS", help="Which class plays.")] = None,
    image: Image = None,
    requirements: Requirements = None,
    model: Annotated[Path | None, typer.Option(help="A folder written by arena train.")] = None,
    sandbox: Annotated[str, typer.Option(help="bwrap, or none to debug your own entry.")] = "bwrap",
    fix: Annotated[
        bool, typer.Option("--fix", help="Write a list of the missing libraries beside the package.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Inspect an entry, play it on a few minutes of simulated data, and say in plain words what would go wrong."""
    from dataclasses import asdict

    from bciarena.cli._playing import checked, progress
    from bciarena.contests import rulebook
    from bciarena.entries.checkup import check, write_list
    from bciarena.errors import CheckFailed
    from bciarena.plaintext import clean

    book = rulebook(checked.challenge(entry_spec, challenge))
    box = checked.sandbox(sandbox)
    with progress(f"checking {entry_spec}") as shown:
        found = check(
            entry_spec,
            book,
            entry=entry,
            python=python,
            image=image,
            requirements=requirements,
            model=model,
            sandbox=box,
            on_progress=shown,
        )
    if as_json:
        give({"ok": not found.problems, **asdict(found)})
    else:
        if found.target:
            say(f"{clean(found.target)}, dialect {found.dialect}, Python {found.python or '?'}")
        if found.played:
            say(f"{found.reports} reports in {found.trials} trials; computing {found.busy_share:.1%} of the time")
        for words in found.warnings:
            say("warning: ", words)
        for words in found.problems:
            say("problem: ", words)
        if found.played and found.reports and not found.problems:
            say("Nothing stands in the way of an upload.")
    if fix and (found.missing or any("requirements" in words for words in found.problems)):
        say(f"written: {write_list(entry_spec, found)}; give it with --requirements", err=True)
    if found.problems:
        first = found.problems[0].splitlines()[0].partition("; the last lines of its stderr:")[0]
        more = f" (and {len(found.problems) - 1} more)" if len(found.problems) > 1 else ""
        raise CheckFailed(f"{first}{more}")
