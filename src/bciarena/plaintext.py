"""Strangers' words for people's eyes and programs: one place decides what may stand in a line, a log or a table."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With these a spreadsheet takes a cell for a formula."""


def is_plain(sign: str) -> bool:
    """Whether a character only shows itself: no control, no change of direction, no half of a pair."""
    return sign.isprintable() or unicodedata.category(sign) == "Zs"


def clean(text: str) -> str:
    """Without what moves a cursor, changes colours or the direction of writing; lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(sign if is_plain(sign) or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def one_line(text: str, most: int = 2000) -> str:
    """``clean`` in one line, cut where it is long."""
    words = " ".join(clean(text).split())
    return words if len(words) <= most else words[:most] + " ..."


def json_text(value: Any, indent: int | None = 1) -> str:
    """JSON in which every character that is not plain is written as its number."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(sign if is_plain(sign) or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)


def table_cell(value: Any) -> Any:
    """A cell of a table for export: a text that a spreadsheet would compute gets an apostrophe before it."""
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if value.startswith(FORMULA) and not _is_number(value) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
