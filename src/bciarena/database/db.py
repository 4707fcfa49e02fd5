"""The database: one declarative base and one Alembic history for jobs and site, on SQLite or PostgreSQL.

Times are floats, seconds since 1970, and come from the database's own clock (`now_s`): the clocks of workers on other
machines are never compared.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, InterfaceError, NoSuchModuleError, OperationalError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.sql.functions import FunctionElement

from bciarena.database import home
from bciarena.errors import BadInput

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_S = 30.0  # how long a SQLite writer waits for another one
CONNECT_S = 5  # how long a PostgreSQL server may take to answer
KEEPALIVE = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}  # a server that vanished is noticed
UPGRADE_LOCK, LEASE_LOCK = 0x62636901, 0x62636902  # PostgreSQL advisory locks


class Base(DeclarativeBase):
    """All tables of jobs and site."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - read by SQLAlchemy
        int: sa.BigInteger().with_variant(sa.Integer(), "sqlite"),  # SQLite numbers only INTEGER keys automatically
        float: sa.Double(),
        str: sa.Text(),
        dict[str, Any]: sa.JSON(none_as_null=True),
    }


class now_s(FunctionElement[float]):
    """The database's clock, seconds since 1970."""

    type = sa.Double()
    inherit_cache = True


@compiles(now_s, "sqlite")
def _sqlite_now(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(now_s, "postgresql")
def _postgresql_now(*_: Any, **__: Any) -> str:
    return "extract(epoch from clock_timestamp())::double precision"


def make_engine(url: str | None = None, idle_limit_s: float | None = None) -> sa.Engine:
    """An engine for a URL, by default this user's SQLite file. Connects to nothing yet.

    ``postgresql://`` means psycopg 3. SQLite runs in WAL mode and writes through to the disk at every commit.
    ``idle_limit_s`` makes PostgreSQL end a session that is idle that long inside a transaction: a machine that froze
    there must not keep its locks.
    """
    text = url or home.database_url()
    try:
        parsed = sa.make_url(text)
    except ArgumentError:
        raise BadInput(f"{text!r} is not a database URL; give sqlite:///FILE or postgresql://USER@HOST/NAME") from None
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    kind = parsed.get_backend_name()
    if kind not in ("sqlite", "postgresql"):
        raise BadInput(f"{shown(parsed)}: only SQLite and PostgreSQL are supported")
    arguments: dict[str, Any] = {"connect_timeout": CONNECT_S, **KEEPALIVE}
    if idle_limit_s:
        arguments["options"] = f"-c idle_in_transaction_session_timeout={round(idle_limit_s * 1000)}"
    if kind == "sqlite":
        arguments = {"timeout": BUSY_S}
        if not parsed.database or parsed.database == ":memory:":
            raise BadInput(f"{shown(parsed)}: the queue is shared between processes, so SQLite needs a file")
        try:  # names, password digests and scores are for this user alone
            Path(parsed.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(parsed.database).touch(mode=0o600)
        except OSError as error:
            raise BadInput(f"{parsed.database}: cannot be made ({error.strerror})") from error
    try:
        # Who uses it bounds how many threads do: waiting for a connection here could only be a deadlock.
        engine = sa.create_engine(parsed, connect_args=arguments, pool_pre_ping=kind == "postgresql", max_overflow=-1)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise BadInput(f"{shown(parsed)}: {error}; install it with: pip install 'bciarena[jobs]'") from error
    if kind == "sqlite":
        sa.event.listen(engine, "connect", _sqlite_connect)
        sa.event.listen(engine, "begin", _sqlite_begin)
    return engine


def _sqlite_connect(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # we issue BEGIN ourselves, so that a writer takes its lock at once
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _sqlite_begin(connection: sa.Connection) -> None:
    how = "BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN"
    connection.exec_driver_sql(how)


@contextmanager
def reading(engine: sa.Engine) -> Iterator[Session]:
    """A session that only reads: never waits for a writer."""
    with Session(engine) as session:
        yield session


@contextmanager
def writing(engine: sa.Engine) -> Iterator[Session]:
    """A session in one transaction, committed at the end of the block.

    On SQLite it holds the write lock from the start, so that it cannot fail half-way because it had read first.
    """
    with Session(engine.execution_options(writes=True), expire_on_commit=False) as session, session.begin():
        yield session


def shown(url: str | sa.URL | sa.Engine) -> str:
    """A URL for people: without its password."""
    if isinstance(url, sa.Engine):
        url = url.url
    return sa.make_url(url).render_as_string(hide_password=True)


def is_unreachable(error: BaseException) -> bool:
    """Whether a database error means that the database is away (or its disk full), not that the query was wrong."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, (OperationalError, InterfaceError))


def why(error: BaseException) -> str:
    """The first line of what the database said."""
    said = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    return said.splitlines()[0]


@contextmanager
def told_clearly(engine: sa.Engine) -> Iterator[None]:
    """Turn an unreachable database into BadInput: for commands, which end; workers wait instead."""
    try:
        yield
    except DBAPIError as error:
        if not is_unreachable(error) and type(error) is not DatabaseError:  # the latter: a file that is not a database
            raise
        raise BadInput(f"database {shown(engine)} cannot be used: {why(error)}") from error


def must_be_there(url: str | None = None) -> None:
    """Refuse the path of a SQLite file that is not there; a server says so itself."""
    try:
        parsed = sa.make_url(url or home.database_url())
    except ArgumentError:
        return  # told by whoever opens it
    if parsed.get_backend_name() == "sqlite" and parsed.database and not Path(parsed.database).is_file():
        raise BadInput(
            f"{parsed.database}: there is no such database; name the site's with --home or --database, "
            "or make one with: arena serve"
        )


@functools.cache
def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def needed_revision() -> str | None:
    """The revision this version of the package works with."""
    return _scripts().get_current_head()


def revision_of(engine: sa.Engine) -> str | None:
    """The revision a database is at; None when it is empty."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def upgrade(target: str | sa.Engine | None = None) -> str | None:
    """Bring a database to the needed revision, from nothing or from an older one; safe if two do it at once."""
    from alembic import command

    engine = target if isinstance(target, sa.Engine) else make_engine(target)
    with told_clearly(engine), engine.execution_options(writes=True).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.text(f"select pg_advisory_xact_lock({UPGRADE_LOCK})"))
        revision = MigrationContext.configure(connection).get_current_revision()
        _refuse_unknown(engine, revision)
        if revision is None and sa.inspect(connection).has_table("jobs"):
            raise BadInput(f"database {shown(engine)}: has tables named like ours but is not from bciarena")
        config = _config()
        config.attributes["connection"] = connection
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Alembic's own, about how it was configured
            command.upgrade(config, "head")
    if target is not engine:
        engine.dispose()
    return needed_revision()


def _refuse_unknown(engine: sa.Engine, revision: str | None) -> None:
    if revision is not None and revision not in {script.revision for script in _scripts().walk_revisions()}:
        raise BadInput(
            f"database {shown(engine)}: its schema is at revision {revision}, which this version does not know; "
            "it was made by a newer bciarena: use that one"
        )


def check_schema(engine: sa.Engine) -> None:
    """Refuse a database of another schema version, in one line that says what to do."""
    revision, needed = revision_of(engine), needed_revision()
    if revision == needed:
        return
    _refuse_unknown(engine, revision)
    raise BadInput(
        f"database {shown(engine)}: its schema is at revision {revision or 'none'}, this version needs {needed}; "
        "stop workers and site, make a copy, and run: arena database --upgrade"
    )


def open_database(url: str | None = None, idle_limit_s: float | None = None, make: bool = True) -> sa.Engine:
    """Engine for a database with our schema; an empty one gets its tables, an older one is refused.

    ``make`` False is for those who have no use for an empty one: a SQLite file that is not there is a mistyped path.
    """
    if not make:
        must_be_there(url)
    engine = make_engine(url, idle_limit_s)
    try:
        with told_clearly(engine):
            if revision_of(engine) is None:
                upgrade(engine)
            check_schema(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine
