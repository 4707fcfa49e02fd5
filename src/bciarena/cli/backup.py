"""arena backup: the whole site to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, Database, Home, Rehearsal, Stored
from bciarena.cli._say import tell
from bciarena.cli._upkeep import steps

WRONG = 3


def main(
    file: Annotated[Path, typer.Argument(help="The backup file; an existing one is added to.")],
    keep: Annotated[int, typer.Option(min=0, help="How many backups the file keeps, the newest; 0: all.")] = 0,
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
    dry_run: Rehearsal = False,
) -> None:
    """Copy database, storage and data/ to a file while the site runs; only what is new since the last time is added."""
    from bciarena.upkeep.backup import backup, would_add
    from bciarena.upkeep.places import Places

    if dry_run:
        would = would_add(Places.at(home, database, storage), file)
        tell(
            as_json,
            {"file": str(file), **would},
            f"would add to {file}: {would['files']} files, {would['bytes'] / 1e6:.1f} MB, and the database",
        )
        return
    with steps("copying") as step:
        index = backup(Places.at(home, database, storage), file, keep, step)
    lost = [
        f"a link, or changed while it was read, so not in the backup: {name}; copy it, or try again"
        if name.startswith("data/")
        else f"missing or damaged in storage, so not in the backup: {name}; arena verify says what it belongs to"
        for name in index["bad"]
    ]
    counts = {"stored": len(index["names"]), "data": len(index["data"])}
    tell(
        as_json,
        {"file": str(file), "moment": index["moment"], **counts, "bad": index["bad"]},
        f"{file}: backup {index['moment']}, {counts['stored']} stored files, {counts['data']} files of data/",
        *lost,
    )
    if index["bad"]:
        raise typer.Exit(WRONG)
