"""What is wrong with an entry, in words that can be put into another language later.

The words are English text like any other. They also remember the key and the values they were made from (words.*.toml
beside this file), so that a site can say them in its reader's language, even after they came out of a box as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bciarena.plaintext import clean, one_line
from bciarena.words import Tables, read_words

MOST = 400  # characters of a value that came out of a box


class Told(str):
    """A message, and what it was made from."""

    key: str
    values: Mapping[str, Any]

    def said(self, lang: str) -> str:
        """The same in a language."""
        return _words(lang)[self.key].format(
            **{name: value.said(lang) if isinstance(value, Told) else value for name, value in self.values.items()}
        )

    def changed(self, change: Callable[[str], str]) -> Told:
        """The same with every text in it changed."""
        return tell(self.key, **{name: _changed(value, change) for name, value in self.values.items()})


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, Told):
        return value.changed(change)
    return change(value) if isinstance(value, str) else value


def tell(key: str, /, **values: Any) -> Told:
    """The message of a key. Values are texts, numbers and other messages."""
    plain = {name: value if isinstance(value, (str, int)) else str(value) for name, value in values.items()}
    told = Told(_words("en")[key].format(**plain))
    told.key, told.values = key, plain
    return told


def written(words: str) -> Any:
    """For JSON: a message with its key, other words as they are."""
    if not isinstance(words, Told):
        return words
    return {"key": words.key, **{name: written(value) for name, value in words.values.items()}}


def read(said: Any) -> str:
    """What `written` wrote, as far as it can be true: it may come from a box."""
    if not isinstance(said, dict):
        return one_line(str(said), MOST)
    try:
        values = {
            str(name): value if isinstance(value, int) else read(value) for name, value in said.items() if name != "key"
        }
        return tell(str(said.get("key")), **values)
    except (KeyError, IndexError, ValueError, TypeError, RecursionError):
        return clean(str(said))[:MOST]


@cache
def _tables() -> dict[str, Tables]:
    return read_words(Path(__file__).parent)


def _words(lang: str) -> Mapping[str, str]:
    return _tables()[lang]["told"]
