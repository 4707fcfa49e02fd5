"""arena rulebook: your own contest folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="A contest of your own: a folder that every command takes as --challenge.", no_args_is_help=True)


@app.command()
def new(folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to: a new folder.")]) -> None:
    """Write a small working contest."""
    from bciarena.contest_folders import write_contest_folder

    for name in write_contest_folder(folder):
        print(f"  {name}")
    print(f"{folder}: a contest that works as it is. Next:")
    print(f"  arena rulebook check {folder}")
    print(f"  arena simulate {folder} --out data")


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A contest folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Say what is wrong with a contest folder, part by part."""
    from bciarena.contest_folders import check_folder
    from bciarena.errors import BadInput

    found = check_folder(folder)
    problems = [one for one in found if one.problem]
    if as_json:
        print(json.dumps([one._asdict() for one in found], ensure_ascii=False, indent=1))
    else:
        for one in found:
            print(f"{'WRONG' if one.problem else 'ok':<6} {one.part:<15} {one.problem or one.note}")
    if problems:
        raise BadInput(f"{folder}: {len(problems)} problem{'s' if len(problems) > 1 else ''} to fix")
