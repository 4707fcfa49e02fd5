"""Which storage belongs to a database: the first process creates or adopts it, all others must find the same one."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from bciarena.database.db import UPGRADE_LOCK, writing
from bciarena.errors import BadInput
from bciarena.jobs.model import Fact, Job
from bciarena.jobs.storage import Storage

STORE = "store"


def open_storage(engine: sa.Engine, url: str | Path | None = None, cache: Path | None = None) -> Storage:
    """The storage of a database. One that is away now is opened all the same; using it raises the error.

    A database without a storage gets this one, created if necessary; but a database with jobs has a storage somewhere,
    so for it an empty place is refused.
    """
    storage = Storage(url, cache)
    with writing(engine) as session:
        if engine.dialect.name == "postgresql":
            session.execute(sa.text(f"select pg_advisory_xact_lock({UPGRADE_LOCK})"))
        known = session.get(Fact, STORE)
        if known is None:
            if session.scalar(sa.select(Job.id).where(Job.kind != "noop").limit(1)) is not None and storage.is_empty():
                raise BadInput(
                    f"storage {storage.shown}: is empty, but the database has jobs; mount it, or name the right one"
                )
            storage.make()
            assert storage.store is not None
            known = Fact(name=STORE, value=storage.store)
            session.add(known)
        storage.store = known.value
    return storage
