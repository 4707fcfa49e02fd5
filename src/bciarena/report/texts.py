"""The words of the report that every contest shares, English and Chinese; a contest's own are in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import bciarena
from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook
from bciarena.summary import ENGLISH, summary
from bciarena.words import read_words

Said = dict[str, str]
"""The same in every language."""

WORDS: dict[str, Said] = {code: dict(tables["report"]) for code, tables in read_words(Path(__file__).parent).items()}
"""The shared words by language and key."""
SUMMARY = {code: tables["summary"] for code, tables in read_words(Path(bciarena.__file__).parent).items() if tables}
COMMAS = {"en": ", ", "zh": "，"}


def words_of(book: Rulebook) -> dict[str, Said]:
    """Every word of a contest's report by language: the shared ones, and its tables ``report`` and ``metrics``."""
    own = contest(book).words
    return {
        code: {
            **words,
            **{f"answer_{answer}": name for answer, name in contest(book).answers(code).items()},
            **own[code].get("report", {}),
            **own[code].get("metrics", {}),
        }
        for code, words in WORDS.items()
    }


def worded(words: Mapping[str, str], key: str) -> str:
    """The word for a key; the key itself, made readable, where a contest has none."""
    if key in words:
        return words[key]
    if key.startswith("hint_"):
        return words["hint_other"].format(what=worded(words, key.removeprefix("hint_")))
    return key.removeprefix("fig_").replace("_", " ")


def said(book: Rulebook, key: str, /, **values: object) -> Said:
    """A sentence in every language; values that differ between languages are themselves such dictionaries."""
    found = {}
    for code, words in words_of(book).items():
        own = {name: value[code] if isinstance(value, dict) else value for name, value in values.items()}
        if key in words:
            found[code] = words[key].format(**own)
        else:  # a contest without words: the key and its values
            shown = COMMAS[code].join(f"{name} {value}" for name, value in own.items())
            found[code] = f"{worded(words, key.removeprefix('say_').removeprefix('alt_'))}: {shown}"
    return found


def explained(counted: Mapping[str, float]) -> Said:
    """The line that explains a score, from a `bciarena.summary.tally`."""
    return {code: summary(counted, SUMMARY.get(code, ENGLISH)) for code in WORDS}


def listed(book: Rulebook, parts: Mapping[str, object]) -> Said:
    """ "right 3, wrong 2": names that are keys of the words are put into each language."""
    return {
        code: COMMAS[code].join(
            f"{words.get(name.lstrip('@'), name.lstrip('@'))} {value}".strip() for name, value in parts.items()
        )
        for code, words in words_of(book).items()
    }
