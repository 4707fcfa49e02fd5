"""arena rulebook: your own contest folders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, DryRun
from bciarena.cli._say import give, say, tell

app = typer.Typer(help="A contest of your own: a folder that every command takes as --challenge.", no_args_is_help=True)


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder to write.")],
    moabb: Annotated[
        str, typer.Option(metavar="NAME", help="Make it of a MOABB data set, named as its class: BNCI2014_001.")
    ] = "",
    data: Annotated[Path | None, typer.Option(help="With --moabb: where its recordings go, too.")] = None,
    subjects: Annotated[str, typer.Option(metavar="N,N", help="With --data: only these.")] = "",
    as_json: AsJson = False,
    dry_run: DryRun = False,
) -> None:
    """Write a small working contest, or that of a MOABB data set."""
    from bciarena.contest_folders import write_contest_folder
    from bciarena.errors import BadInput

    if moabb:
        from bciarena.moabb.folder import find_dataset, write_folder

        if not re.fullmatch(r"(\d+(,\d+)*)?", subjects):
            raise BadInput(f"--subjects {subjects}: give numbers with commas between them")
        wanted = tuple(int(part) for part in subjects.split(",") if part)
        book = write_folder(find_dataset(moabb), folder, data, wanted)
        lines = [f"{folder}: {book.id}, {len(book.channels)} channels, {book.rate} Hz, {len(book.vocabulary)} classes"]
        if data:
            lines.append(f"{data}: its recordings; arena run ENTRY --challenge {folder} --data {data}")
        tell(as_json, {"folder": str(folder), "rulebook": book.id, "data": str(data) if data else None}, *lines)
        return
    if data or subjects:
        raise BadInput("--data and --subjects go with --moabb NAME")
    names = write_contest_folder(folder)
    tell(
        as_json,
        {"folder": str(folder), "files": names},
        *(f"  {name}" for name in names),
        f"{folder}: a contest that works as it is. Next:",
        f"  arena rulebook check {folder}",
        f"  arena simulate {folder} --out data",
    )


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A contest folder.")],
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with a contest folder, part by part."""
    from bciarena.contest_folders import check_folder
    from bciarena.errors import BadInput

    found = check_folder(folder)
    problems = [one for one in found if one.problem]
    if as_json:
        give([one._asdict() for one in found])
    else:
        for one in found:
            say(f"{'WRONG' if one.problem else 'ok':<6} {one.part:<15} {one.problem or one.note}")
    if problems:
        raise BadInput(f"{folder}: {len(problems)} problem{'s' if len(problems) > 1 else ''} to fix")
