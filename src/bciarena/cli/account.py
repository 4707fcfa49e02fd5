"""arena account: help with accounts, on the machine of the site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bciarena.cli._options import AsJson, Database, Home, Rehearsal
from bciarena.cli._say import tell

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

app = typer.Typer(help="Help with accounts, on the machine of the site.", no_args_is_help=True)


@app.command()
def reset(
    name: Annotated[str, typer.Argument(help="The account.")],
    home: Home = None,
    database: Database = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the new password from stdin.")] = False,
    as_json: AsJson = False,
    dry_run: Rehearsal = False,
) -> None:
    """Give an account a new password, printed once; signs it out everywhere and ends its tokens."""
    import sys

    from bciarena.errors import BadInput
    from bciarena.service.accounts import account_named, reset_password
    from bciarena.service.refusals import Refused

    chosen = sys.stdin.readline().rstrip("\n") if password_stdin else None
    with _opened(home, database) as session:
        if dry_run:
            if account_named(session, name) is None:
                raise BadInput(f"{name}: there is no such account")
            tell(
                as_json, {"name": name}, f"would give {name} a new password, sign it out everywhere and end its tokens"
            )
            return
        try:
            password = reset_password(session, None, name, chosen)
        except Refused as no:
            raise BadInput(f"{name}: there is no such account" if no.status == 404 else str(no)) from None
    words = f"{name} has a new password" if chosen else f"{name} has a new password: {password} (shown only once)"
    tell(as_json, {"name": name, "password": None if chosen else password}, words)


@app.command()
def log(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File; default: stdout.")] = None,
    home: Home = None,
    database: Database = None,
) -> None:
    """Write what organisers and operators did (the audit log) as CSV."""
    from bciarena.service.audit import audit_csv
    from bciarena.writing import wanted_file

    with _opened(home, database) as session:
        text = audit_csv(session)
    if out is None:
        print(text, end="")
    else:
        with wanted_file(out) as beside:
            beside.write_text(text, "utf-8")


@contextmanager
def _opened(home: Path | None, database: str | None) -> Iterator[Session]:
    """The database of a site that is there; nothing is made."""
    from sqlalchemy.orm import Session

    from bciarena.database import db
    from bciarena.upkeep.places import Places

    engine = db.open_database(Places.at(home, database).database, make=False)
    try:
        with db.told_clearly(engine), Session(engine.execution_options(writes=True)) as session:
            yield session
    finally:
        engine.dispose()
