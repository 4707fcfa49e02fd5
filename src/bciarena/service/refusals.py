"""Refusals: a status for machines, and the key of a text for people in their language."""

from __future__ import annotations

import math
from typing import Any

from bciarena.errors import BadInput


class Refused(BadInput):
    """The request cannot be met; ``key`` names the text that says why, ``words`` fill it.

    ``again_s`` is how long to wait before trying again, where that is known.
    """

    def __init__(self, status: int, key: str, again_s: float | None = None, **words: Any) -> None:
        from bciarena.service.texts import say

        super().__init__(say("en", key, **words))
        self.status, self.key, self.words = status, key, words
        self.headers = {} if again_s is None else {"retry-after": str(max(math.ceil(again_s), 1))}


def not_found() -> Refused:
    """Also used where something exists that the account may not know about."""
    return Refused(404, "refused.not_found")
