"""Text from outside made harmless: this module decides what may appear in a line, a log or a table."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet takes a cell that begins with one of these for a formula; the last four are wide forms of the first."""


def is_plain(sign: str) -> bool:
    """Whether a character is merely displayed: no control, no change of direction, no surrogate."""
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


def quoted(text: str) -> str:
    """``clean`` with a bar before every line: none of them can pass for one of ours."""
    return "\n".join(f"| {line}" for line in clean(text).splitlines())


def json_text(value: Any, indent: int | None = 1) -> str:
    """JSON in which every character that is not plain is written as its number."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(sign if is_plain(sign) or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)


def table_cell(value: Any) -> Any:
    """A cell for export: a text that a spreadsheet would compute gets a leading apostrophe."""
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
