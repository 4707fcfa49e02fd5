"""arena audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def main(
    folder: Annotated[Path, typer.Argument(help="A release, a folder of sets, or a data folder with its truth.")],
    challenge: Annotated[str, typer.Option(help="The contest: name, name/version or folder.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Also write the report here; .json or Markdown by its ending.")
    ] = None,
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Leak probes: small entries that see only what must not help; exit 1 where one is better than chance."""
    from rich.console import Console

    from bciarena.audit import audit, markdown
    from bciarena.errors import BadInput
    from bciarena.plaintext import json_text
    from bciarena.words import LANGUAGES
    from bciarena.writing import wanted_file

    if language not in LANGUAGES:
        raise BadInput(f"--language {language}: choose one of {', '.join(LANGUAGES)}")
    with Console(stderr=True).status("reading") as status:
        found = audit(folder, challenge, lambda words: status.update(words))
    text = markdown(found, language)
    if out is not None:
        with wanted_file(out) as beside:
            beside.write_text(json_text(found) + "\n" if out.suffix == ".json" else text, "utf-8")
    print(json_text(found) if as_json else text)
    if not found["passed"]:
        raise typer.Exit(1)
