"""arena status: the state of your submissions."""

from __future__ import annotations

from typing import Annotated

import typer

from bciarena.cli._options import AsJson
from bciarena.cli._say import tell


def main(
    run: Annotated[int | None, typer.Argument(min=1, help="Number of a run; default: the newest ones.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Wait until the run (or the newest) has ended.")] = False,
    logs: Annotated[bool, typer.Option("--logs", help="Also show what the entry printed.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many of the newest.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show your submissions on the site you signed in to."""

    from bciarena.cli._following import follow_run, line_of, result_of, told
    from bciarena.errors import BadInput
    from bciarena.service.client import Client

    client = Client.signed_in()
    if run is None and not follow and not logs:
        found = client.call("GET", "/submissions", params={"limit": limit})
        tell(as_json, found, *(map(line_of, found) if found else ["none yet"]))
        return
    if run is None:
        newest = client.call("GET", "/submissions", params={"limit": 1})
        if not newest:
            raise BadInput("there is no submission yet")
        run = int(newest[0]["id"])
    one = follow_run(client, run) if follow else client.call("GET", f"/submissions/{run}")
    tell(as_json, one, *told(one))
    if logs:
        print(client.text(f"/submissions/{run}/logs"), end="")
    result_of(one)
