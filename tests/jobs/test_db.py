"""The database: both kinds, from nothing, from another version, and away."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from bciarena import cli
from bciarena.database import db
from bciarena.errors import BadInput
from bciarena.jobs.model import Job


def test_fresh_database_gets_the_tables_of_the_models(database_url: str) -> None:
    engine = db.open_database(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        ours = [change for change in compare_metadata(context, db.Base.metadata) if _about_jobs(change)]
    assert ours == []
    engine.dispose()


def _about_jobs(change: object) -> bool:
    return "'jobs'" in repr(change) or "'workers'" in repr(change)


def test_many_may_open_a_fresh_database_at_once(database_url: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        engines = list(pool.map(lambda _: db.open_database(database_url), range(6)))
    assert db.revision_of(engines[0]) == db.needed_revision()
    for engine in engines:
        engine.dispose()


def test_other_schema_version_is_refused_in_one_line(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    engine = db.open_database(database_url)
    with engine.begin() as connection:
        connection.execute(sa.text("update alembic_version set version_num = 'f00d'"))
    engine.dispose()
    for command in (["queue"], ["worker", "--once"], ["database"], ["database", "--upgrade"]):
        assert cli.main([*command, "--database", database_url]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "newer bciarena" in said


def test_older_schema_says_how_to_upgrade(database_url: str) -> None:
    engine = db.open_database(database_url)
    with engine.begin() as connection:
        connection.execute(sa.text("delete from alembic_version"))
    with pytest.raises(BadInput, match="not from bciarena"):
        db.open_database(database_url)
    with pytest.raises(BadInput, match="arena database --upgrade"):
        db.check_schema(engine)
    engine.dispose()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://nobody@127.0.0.1:9/nothing", "cannot be used"),
        ("nonsense", "is not a database URL"),
        ("mysql://here/there", "only SQLite and PostgreSQL"),
        ("sqlite://", "needs a file"),
        ("sqlite:////proc/nowhere/arena.db", "there is no such database"),
    ],
)
def test_unusable_urls_are_one_line(url: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["queue", "--database", url]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_not_a_database(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    path.write_bytes(b"this is a text, not a database\n" * 100)
    with pytest.raises(BadInput, match="not a database"):
        db.open_database(f"sqlite:///{path}")


def test_password_is_never_shown() -> None:
    assert "secret" not in db.shown("postgresql://me:secret@host/name")


def test_the_clock_is_the_databases(database_url: str) -> None:
    import time

    engine = db.open_database(database_url)
    with db.reading(engine) as session:
        assert abs(session.scalar(sa.select(db.now_s())) - time.time()) < 1.0
    engine.dispose()


def test_a_failing_block_writes_nothing(database_url: str) -> None:
    engine = db.open_database(database_url)

    def fail() -> None:
        with db.writing(engine) as session:
            session.add(Job(kind="noop", payload={}))
            session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with db.reading(engine) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Job)) == 0
    engine.dispose()
