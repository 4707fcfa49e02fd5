"""arena restore: a site from a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, Database, Home, Stored
from bciarena.cli._say import tell
from bciarena.cli._upkeep import steps


def main(
    file: Annotated[Path, typer.Argument(help="A file written by arena backup.")],
    moment: Annotated[str, typer.Option(help="Which backup of the file; default: the newest.")] = "",
    home: Home = None,
    database: Database = None,
    storage: Stored = None,
    as_json: AsJson = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be restored where; write nothing.")
    ] = False,
) -> None:
    """Restore a site from a backup to a place where there is none, checking every digest."""
    from bciarena.upkeep.backup import restore
    from bciarena.upkeep.places import Places

    places = Places.at(home, database, storage)
    with steps("restoring") as step:
        index = restore(places, file, moment, step, dry_run)
    if dry_run:
        would = f"would restore backup {index['moment']} to {places.home}: {len(index['names'])} stored files"
        tell(as_json, {"home": str(places.home), "moment": index["moment"], "stored": len(index["names"])}, would)
        return
    tell(
        as_json,
        {"home": str(places.home), "moment": index["moment"], "stored": len(index["names"])},
        f"{places.home}: restored from backup {index['moment']}, {len(index['names'])} stored files",
        "check it with: arena verify --digests --scores; then serve it with: arena serve (the same --home)",
    )
