"""Every text of the site by language and key; a test keeps the keys alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bciarena.words import read_words

LANGUAGES = {code: tables["site"] for code, tables in read_words(Path(__file__).parent).items()}


def say(lang: str, key: str, **words: Any) -> str:
    """The text of a key, with its placeholders filled; what can be said in a language is."""
    filled = {name: value.said(lang) if hasattr(value, "said") else value for name, value in words.items()}
    return LANGUAGES[lang][key].format(**filled)
