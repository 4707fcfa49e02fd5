"""arena audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, Language, language_of
from bciarena.cli._say import give


def main(
    folder: Annotated[Path, typer.Argument(help="A release, a folder of sets, or a data folder with its truth.")],
    challenge: Annotated[str, typer.Option(help="The contest: name, name/version or folder.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Also write the report here; .json or Markdown by its ending.")
    ] = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Leak probes: small entries that see only what must not help; exit 1 where one is better than chance."""
    from bciarena.audit import audit, markdown
    from bciarena.bars import working
    from bciarena.plaintext import json_text
    from bciarena.writing import wanted_file

    speaks = language_of(language)
    with working("reading") as tell:
        found = audit(folder, challenge, tell)
    text = markdown(found, speaks)
    if out is not None:
        with wanted_file(out) as beside:
            beside.write_text(json_text(found) + "\n" if out.suffix == ".json" else text, "utf-8")
    if as_json:
        give(found)
    else:
        print(text)
    if not found["passed"]:
        raise typer.Exit(1)
