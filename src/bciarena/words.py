"""Words of pages in every language: tables in words.en.toml and words.zh.toml, beside the code that says them.

The site, run pages, the lab, the simulator's quality page and every contest keep theirs this way.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

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


class Said(str):
    """A sentence, in English, that knows itself in the other languages: for those who are shown it.

    Attributes
    ----------
    every : mapping of str to str
        The sentence by language.
    """

    every: Mapping[str, str]

    def __new__(cls, every: Mapping[str, str]) -> Said:
        made = super().__new__(cls, every["en"])
        made.every = every
        return made

    @classmethod
    def joined(cls, parts: Iterable[str], between: str) -> Said:
        """Sentences one behind the other."""
        kept = list(parts)
        return cls({language: between.join(in_language(part, language) for part in kept) for language in LANGUAGES})


def in_language(text: str, language: str) -> str:
    """A sentence for a reader; one that knows no other language is given as it is."""
    return text.every[language] if isinstance(text, Said) else text


def speaker(folder: Path, table: str) -> Callable[..., Said]:
    """Makes sentences from a table of a folder's words: ``say("lost", n=5)``; values may be sentences themselves."""
    words = read_words(folder)

    def say(key: str, **values: Any) -> Said:
        return Said(
            {
                language: words[language][table][key].format(
                    **{name: in_language(value, language) for name, value in values.items()}
                )
                for language in LANGUAGES
            }
        )

    return say
