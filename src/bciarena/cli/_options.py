"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Image = Annotated[
    str | None, typer.Option("--image", metavar="NAME", help="Libraries of a contest year, e.g. wrc2022-py3.8.")
]
Requirements = Annotated[
    Path | None,
    typer.Option("--requirements", metavar="FILE", help="A list of libraries in addition to the entry's own."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text; errors, too.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Do everything but keep nothing, and say what would have been written.",
        callback=lambda wanted: _rehearse(wanted),
    ),
]
Rehearsal = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
"""For what changes a site or a queue; files that a command writes have DryRun."""
Language = Annotated[str | None, typer.Option(help="en or zh. [default: yours, see arena config]")]
Home = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the site; default: ARENA_HOME or this user's. A folder given here wins over ARENA_DATABASE and "
        "ARENA_STORAGE; --database and --storage win over the folder."
    ),
]
Database = Annotated[str | None, typer.Option(help="URL of the site's database.")]
Stored = Annotated[str | None, typer.Option(help="Folder or fsspec URL of the site's files.")]
Outside = Annotated[str | None, typer.Option(help="The contest's folder, if it is not one of the known contests.")]


def _rehearse(wanted: bool) -> bool:
    from bciarena.writing import rehearse

    rehearse(wanted)
    return wanted


def codes_of(text: str) -> dict[str, int]:
    """What a source's events mean: ``WORD=CODE,WORD=CODE``."""
    from bciarena.errors import BadInput

    words: dict[str, int] = {}
    for pair in filter(None, text.split(",")):
        word, _, code = pair.rpartition("=")
        if not word or not code.strip().isdigit() or not 0 < int(code) < 256:
            raise BadInput(f"--events {pair}: expected WORD=CODE with a code from 1 to 255")
        words[word.strip()] = int(code)
    return words


def language_of(given: str | None) -> str:
    """A language that was asked for, or the reader's."""
    from bciarena.errors import BadInput
    from bciarena.words import LANGUAGES, reader_language

    if given is not None and given not in LANGUAGES:
        raise BadInput(f"--language {given}: choose one of {', '.join(LANGUAGES)}")
    return given or reader_language()
