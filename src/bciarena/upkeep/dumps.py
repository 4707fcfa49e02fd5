"""A database as one file and back, while others use it: SQLite's own backup, pg_dump and pg_restore."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import sqlalchemy as sa

from bciarena.database import db
from bciarena.errors import BadInput, Fault
from bciarena.writing import whole_file


def dump(engine: sa.Engine, target: Path) -> None:
    """A consistent snapshot of a database in a new file."""
    if engine.dialect.name == "postgresql":
        _call("pg_dump", engine.url, "--format=custom", "--no-owner", f"--file={target}")
        return
    source, copy = sqlite3.connect(str(engine.url.database)), sqlite3.connect(target)
    try:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it
    finally:
        source.close()
        copy.close()


def refuse_other_kind(kind: str, url: str) -> None:
    """A dump of one kind of database makes none of another."""
    if sa.make_url(url).get_backend_name() != kind:
        raise BadInput(f"{db.shown(url)}: the backup is of {kind}; give a database of that kind with --database")


def load(source: Path, kind: str, url: str) -> None:
    """Make a database from a dump of its kind, at a URL where there is none yet."""
    target = sa.make_url(url)
    if kind == "postgresql":
        _call("pg_restore", target, "--no-owner", "--exit-on-error", "--single-transaction", str(source))
        return
    check = sqlite3.connect(source)
    try:
        said = check.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        check.close()
    if said != "ok":
        raise Fault(f"the database in the backup is damaged: {said}")
    final = Path(str(target.database))
    with whole_file(final) as beside:
        shutil.copyfile(source, beside)
        os.chmod(beside, 0o600)


def is_free(url: str) -> bool:
    """Whether a database could be made at a URL: there is none, or it is empty."""
    target = sa.make_url(url)
    if target.get_backend_name() == "sqlite" and not Path(str(target.database)).exists():
        return True
    engine = db.make_engine(url)
    try:
        with db.told_clearly(engine):
            return not sa.inspect(engine).get_table_names()
    finally:
        engine.dispose()


def _call(program: str, url: sa.URL, *arguments: str) -> None:
    found = shutil.which(program) or next(
        (str(path) for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)), None
    )
    if found is None:
        raise BadInput(f"{program} is not installed (Debian: apt install postgresql-client)")
    # Not on the command line, which every user of the machine can read.
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    where = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    done = subprocess.run(
        [found, f"--dbname={where}", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise BadInput(f"{program}: {said[0] if said else f'exit code {done.returncode}'}")
