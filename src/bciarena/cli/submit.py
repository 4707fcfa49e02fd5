"""arena submit: uploads a package and submits it to a contest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson
from bciarena.cli._say import say, tell


def main(
    package: Annotated[Path, typer.Argument(help="What arena pack made (.zip, .tar.gz), or an entry's folder.")],
    contest: Annotated[str, typer.Option(help="The contest's name in the address: /contests/NAME")],
    phase: Annotated[str | None, typer.Option(help="Default: the one that is open.")] = None,
    team: Annotated[str | None, typer.Option(help="Needed when you are in several.")] = None,
    entry: Annotated[str | None, typer.Option(help="Name of the entry; default: the package's name.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for the run and show its progress.")] = False,
    as_json: AsJson = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Ask the site whether it would be taken; send nothing.")
    ] = False,
) -> None:
    """Upload a package as a new version of an entry (created if there is none of that name) and submit it."""
    import shutil
    import tempfile

    from bciarena.bars import progress_bar
    from bciarena.cli._following import follow_run, result_of, told
    from bciarena.errors import BadInput
    from bciarena.service.client import Client, pick

    if not package.exists():
        raise BadInput(f"{package}: no such file or folder")
    client = Client.signed_in()
    book = str(client.call("GET", f"/contests/{contest}")["rulebook"]).split("/")[0]
    own = pick(client.call("GET", "/teams"), team, "team")
    name = entry or package.name.removesuffix(".zip").removesuffix(".tar.gz").removesuffix(".tgz")
    entries = {one["name"]: one for one in client.call("GET", f"/teams/{own['id']}/entries")}
    if name in entries and entries[name]["challenge"] != book:
        raise BadInput(f"entry {name!r} plays {entries[name]['challenge']}, not {book}; give another --entry")
    if dry_run:
        kind = f"a new version of entry {name}" if name in entries else f"a new entry {name}"
        told_so = f"would upload {package} to {client.site} as {kind} of team {own['name']}, for {contest}"
        tell(as_json, {"site": client.site, "team": own["name"], "entry": name, "contest": contest}, told_so)
        return
    if name not in entries:
        body = {"name": name, "challenge": book}
        entries[name] = client.call("POST", f"/teams/{own['id']}/entries", json=body)
    with tempfile.TemporaryDirectory(prefix="arena-submit-") as work:
        path = package
        if package.is_dir():
            path = Path(shutil.make_archive(str(Path(work) / package.resolve().name), "zip", package))
        with progress_bar() as shown:
            task = shown.add_task("uploading", total=path.stat().st_size)
            version = client.upload(entries[name]["id"], path, lambda n: shown.advance(task, n))
    for words in version["about"].get("warnings", []):
        say("note: ", words, err=True)
    sent = {"version_id": version["id"], "contest": contest, "phase": phase}
    run = client.call("POST", "/submissions", json=sent)
    if follow:
        run = follow_run(client, run["id"])
    tell(as_json, run, *told(run))
    result_of(run)
