"""Where a site's database and storage are; both must exist."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from bciarena.database import db, home
from bciarena.errors import BadInput
from bciarena.jobs.storage import Storage
from bciarena.jobs.stores import open_storage


@dataclass(frozen=True)
class Places:
    """Where a site is; a folder given here takes precedence over the environment's database and storage."""

    home: Path
    database: str
    storage: str

    @staticmethod
    def at(folder: Path | None = None, database: str | None = None, storage: str | None = None) -> Places:
        return Places(
            folder or home.home(),
            database or (f"sqlite:///{folder.absolute() / 'arena.db'}" if folder else home.database_url()),
            storage or (str(folder.absolute() / "storage") if folder else home.storage_url()),
        )

    @contextmanager
    def opened(self) -> Iterator[tuple[sa.Engine, Storage]]:
        """Database and storage of an existing site; nothing is created."""
        db.must_be_there(self.database)
        engine = db.make_engine(self.database)
        try:
            with db.told_clearly(engine):
                if db.revision_of(engine) is None:
                    raise BadInput(f"database {db.shown(engine)}: is empty; name the site's with --home or --database")
                db.check_schema(engine)
                storage = open_storage(engine, self.storage)
            storage.here()
            yield engine, storage
        finally:
            engine.dispose()
