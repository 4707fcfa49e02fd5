"""arena account: help with accounts, on the machine of the site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Help with accounts, on the machine of the site.", no_args_is_help=True)

Home = Annotated[Path | None, typer.Option(help="Folder of the site; default: ARENA_HOME or this user's.")]
Database = Annotated[str | None, typer.Option(help="URL of the site's database.")]


@app.command()
def reset(
    name: Annotated[str, typer.Argument(help="The account.")],
    home: Home = None,
    database: Database = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the new password from stdin.")] = False,
) -> None:
    """Give an account a new password, printed once; signs it out everywhere and ends its tokens."""
    import sys

    from bciarena.errors import BadInput
    from bciarena.service.accounts import reset_password
    from bciarena.service.refusals import Refused
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site

    chosen = sys.stdin.readline().rstrip("\n") if password_stdin else None
    site = Site(Settings.at(home, database))
    with site.session(writes=True) as session:
        try:
            password = reset_password(session, None, name, chosen)
        except Refused as no:
            raise BadInput(f"{name}: there is no such account" if no.status == 404 else str(no)) from None
    site.engine.dispose()
    print(f"{name} has a new password" + ("" if chosen else f": {password} (shown only once)"))


@app.command()
def log(
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File; default: stdout.")] = None,
    home: Home = None,
    database: Database = None,
) -> None:
    """Write what organisers and operators did (the audit log) as CSV."""
    from bciarena.service.audit import audit_csv
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site

    site = Site(Settings.at(home, database))
    with site.session(writes=False) as session:
        text = audit_csv(session)
    site.engine.dispose()
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, "utf-8")
