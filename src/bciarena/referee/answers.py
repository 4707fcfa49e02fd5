"""Which reported values are answers (R16)."""

from __future__ import annotations

from typing import Any

from bciarena.contests.rulebook import Rulebook
from bciarena.wire import values


def plain_value(value: Any) -> Any:
    """Reduce an answer to what a ledger can hold (see wire.values)."""
    return values.plain_value(value)  # type: ignore[no-untyped-call]


def answer_text(rulebook: Rulebook, value: Any) -> tuple[str, bool]:
    """A ledger value as text, and whether it is a valid answer.

    Valid are integers and integral floats where the rules ask for numbers, texts where they ask for texts (or either,
    where they take both), and only if the vocabulary has them. An invalid one is shown as given.
    """
    if isinstance(value, dict):
        return str(value.get("other", value)), False
    text = str(value)
    if rulebook.answers == "integer":
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        text = str(int(value)) if whole else text
        return text, whole and text in rulebook.vocabulary
    kinds: tuple[type, ...] = (str,) if rulebook.answers == "text" else (str, int)
    return text, isinstance(value, kinds) and text in rulebook.vocabulary
