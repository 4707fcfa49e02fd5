"""Words in every language: tables in words.en.toml and words.zh.toml, beside the code that says them.

The site, run pages, the lab, the simulator's quality page and every contest keep theirs this way. Lines of the command
line are written in English where they arise and are put into the reader's language when they are shown (`shown`), by
the catalogue messages.zh.toml (and a contest's own, in its folder).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput

LANGUAGES = ("en", "zh")
VARIABLE = "ARENA_LANG"
"""The environment variable that says which language this process and its children speak."""
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


def reader_language() -> str:
    """The language of whoever reads our lines: ``ARENA_LANG``, else the locale's (LC_ALL, LC_MESSAGES, LANG)."""
    named = next(filter(None, map(os.environ.get, (VARIABLE, "LC_ALL", "LC_MESSAGES", "LANG"))), "")
    found = re.split(r"[_.@-]", named.lower())[0]
    return found if found in LANGUAGES else "en"


def shown(text: str, language: str | None = None) -> str:
    """A line in the reader's language; one that the catalogue does not have stays English."""
    language = language or reader_language()
    if isinstance(text, Said) or language == "en":
        return in_language(text, language)
    return "\n".join(_translated(line, language) for line in str(text).split("\n"))


def catalogues(language: str) -> list[Path]:
    """The package's sentences, and those of contests in their own folders."""
    here, name = Path(__file__).parent, f"messages.{language}.toml"
    return [here / name, *sorted(here.glob(f"contests/*/{name}"))]


def _read(path: Path) -> dict[str, dict[str, str]]:
    return tomllib.loads(path.read_text("utf-8"))


@cache
def _catalogue(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Sentences as patterns, the most particular first. ``{0}`` stands for whatever is filled in."""
    pairs = [pair for path in catalogues(language) for table in _read(path).values() for pair in table.items()]
    pairs.sort(key=lambda pair: (not pair[0].endswith(": "), -len(re.sub(r"\{\d+\}", "", pair[0]))))
    return [(_pattern(english), other) for english, other in pairs]


def _pattern(english: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\d+)\}", english)
    return re.compile("".join(f"(?P<v{part}>.*?)" if k % 2 else re.escape(part) for k, part in enumerate(parts)))


def _translated(line: str, language: str) -> str:
    for pattern, other in _catalogue(language):
        if pattern.pattern.endswith(r":\ ") and (found := pattern.match(line)):  # "note: " and the like come first
            return other + _translated(line[found.end() :], language)
        if found := pattern.fullmatch(line):
            filled = other
            for name, value in found.groupdict().items():
                filled = filled.replace("{" + name[1:] + "}", _translated(value, language) if " " in value else value)
            return filled
    # "FILE: what is wrong with it", where the catalogue knows the second part only
    head, colon, tail = line.partition(": ")
    return f"{head}{colon}{_translated(tail, language)}" if tail else line
