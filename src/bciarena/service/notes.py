"""Notes of the referee in the reader's language.

The referee and the contests' scores write notes in English. Their forms are among the words (table ``notes`` of a
contest, keys ``note.*`` of the site), with places for what varies; a note that fits a form is said in the other
language, any other stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from bciarena.contests import contest as find_contest
from bciarena.contests.rulebook import Rulebook
from bciarena.service.texts import LANGUAGES

PLACE = re.compile(r"\{(\w+)\}")


@lru_cache
def _pattern(form: str) -> re.Pattern[str]:
    """A form as a pattern; every place takes whatever stands there."""
    parts = PLACE.split(form)
    text = "".join(f"(?P<{part}>.*?)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    return re.compile(text, re.DOTALL)


def _forms(lang: str, book: Rulebook) -> Iterable[tuple[str, str]]:
    """English forms with the same in a language."""
    for key, form in LANGUAGES["en"].items():
        if key.startswith("note."):
            yield form, LANGUAGES[lang][key]
    words = find_contest(book).words
    english: Mapping[str, str] = words["en"].get("notes", {})
    for key, form in english.items():
        yield form, words[lang]["notes"][key]


def said(notes: Iterable[str], lang: str, book: Rulebook) -> list[str]:
    """Notes in a language."""
    return [_said(str(note), lang, book) for note in notes]


def _said(note: str, lang: str, book: Rulebook) -> str:
    if lang == "en":
        return note
    for form, other in _forms(lang, book):
        if found := _pattern(form).fullmatch(note):
            return PLACE.sub(lambda place: found[place[1]], other)
    return note
