"""Every text of the site, by key, in each language; a test keeps the keys alike."""

from __future__ import annotations

from typing import Any

from bciarena.service.texts.en import TEXTS as EN
from bciarena.service.texts.zh import TEXTS as ZH

LANGUAGES = {"en": EN, "zh": ZH}


def say(lang: str, key: str, **words: Any) -> str:
    """The text of a key, its places filled."""
    return LANGUAGES[lang][key].format(**words)
