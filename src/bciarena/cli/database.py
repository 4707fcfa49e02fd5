"""arena database: the schema of jobs and site."""

from __future__ import annotations

from typing import Annotated

import typer

from bciarena.cli._options import AsJson
from bciarena.cli._say import tell


def main(
    database: Annotated[str, typer.Option(help="URL; default: ARENA_DATABASE or this user's SQLite file.")] = "",
    upgrade: Annotated[bool, typer.Option("--upgrade", help="Bring the tables to this version's schema.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show which schema a database has, and bring it up to date."""
    from bciarena.database import db

    engine = db.make_engine(database or None)
    try:
        if upgrade:
            db.upgrade(engine)
        with db.told_clearly(engine):
            revision = db.revision_of(engine)
        needed = db.needed_revision()
        tell(
            as_json,
            {"database": db.shown(engine), "revision": revision, "needed": needed},
            f"{db.shown(engine)}: schema revision {revision or 'none'}, this version needs {needed}",
        )
        if revision is not None:
            db.check_schema(engine)
    finally:
        engine.dispose()
