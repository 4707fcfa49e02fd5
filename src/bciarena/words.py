"""Words of pages in every language: tables in words.en.toml and words.zh.toml, beside the code that says them.

The site, run pages, the lab, the simulator's quality page and every contest keep theirs this way.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from bciarena.errors import BadInput

LANGUAGES = ("en", "zh")
Tables = Mapping[str, Mapping[str, str]]
"""Words by table and key."""


def read_words(folder: Path) -> dict[str, Tables]:
    """The tables of a folder by language; what a language lacks is in English."""
    found: dict[str, Tables] = {}
    for language in LANGUAGES:
        path = folder / f"words.{language}.toml"
        try:
            own = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: {error}") from error
        if loose := [name for name, table in own.items() if not isinstance(table, dict)]:
            raise BadInput(f"{path}: {loose[0]}: is outside any table; put it under [page]")
        english = found.get("en", {})
        found[language] = {table: {**english.get(table, {}), **own.get(table, {})} for table in {**english, **own}}
    return found
