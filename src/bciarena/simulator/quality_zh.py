"""The quality page in Chinese: phrases as the page says them, # for a number ("3-45" is two: 3 and -45)."""

from __future__ import annotations

import re
from pathlib import Path

from bciarena.words import read_words

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")

PHRASES = read_words(Path(__file__).parent)["zh"]["quality"]


def chinese(phrase: str) -> str:
    """A phrase of the page in Chinese; names of channels and the like, which are no phrases, as they are."""
    numbers = iter(NUMBER.findall(phrase))
    found = PHRASES.get(NUMBER.sub("#", phrase))
    return phrase if found is None else re.sub("#", lambda _: next(numbers), found)
