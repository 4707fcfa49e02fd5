"""arena bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun, Outside
from bciarena.cli._say import tell


def main(
    run: Annotated[Path, typer.Argument(help="A run folder kept by arena run --out.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write: NAME.crate.zip.")],
    data: Annotated[Path | None, typer.Option(help="The data folder, if it has moved since.")] = None,
    with_entry: Annotated[
        bool, typer.Option("--with-entry", help="Put the entry's files and its model into the bundle.")
    ] = False,
    licence: Annotated[str, typer.Option("--license", help="Under which it is shared: an URL of spdx.org.")] = "",
    challenge: Outside = None,
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Pack a run with its rules, truth and surroundings into one file (RO-Crate) that a stranger can verify."""
    from bciarena.bars import working
    from bciarena.bundles import make_bundle
    from bciarena.contests import known

    known(challenge)
    with working("packing"):
        digest = make_bundle(run, out, data=data, with_entry=with_entry, licence=licence)
    tell(
        as_json,
        {"file": str(out), "sha256": digest},
        f"{out}  sha256 {digest}",
        "publish the sha256 with the results: whoever has it can tell this file from a changed one",
    )
