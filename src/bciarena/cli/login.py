"""arena login: signs in to a contest site."""

from __future__ import annotations

from typing import Annotated

import typer

from bciarena.cli._options import AsJson
from bciarena.cli._say import tell


def main(
    site: Annotated[str, typer.Argument(help="Address of the site, e.g. http://127.0.0.1:8000")],
    name: Annotated[str | None, typer.Option(help="Your name there; asked for when left out.")] = None,
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read a token from your account page from stdin; no password.")
    ] = False,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")] = False,
    scope: Annotated[str, typer.Option(help="What the token may do: read, submit or organise.")] = "submit",
    days: Annotated[int, typer.Option(min=1, max=365, help="How long the token is valid.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Sign in to a site for arena submit and arena status. Only a token is kept, not the password."""
    import socket
    import sys

    from bciarena.service.client import Client, keep_login

    if token_stdin:
        token = sys.stdin.readline().strip()
    else:
        who = name or typer.prompt("name")
        password = sys.stdin.readline().rstrip("\n") if password_stdin else typer.prompt("password", hide_input=True)
        body = {"name": who, "password": password, "label": f"arena login on {socket.gethostname()}"[:60]}
        body |= {"scope": scope, "days": days}
        token = str(Client(site).call("POST", "/token", json=body)["token"])
    me = Client(site, token).call("GET", "/me")
    where = keep_login(site.rstrip("/"), token)
    tell(
        as_json,
        {"name": me["name"], "role": me["role"], "token_file": str(where)},
        f"signed in as {me['name']} ({me['role']}); the token is kept in {where}",
    )
