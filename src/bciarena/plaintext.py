"""Strangers' words for people's eyes and programs: one place decides what may stand in a line, a log or a table."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With these a spreadsheet takes a cell for a formula."""


def clean(text: str) -> str:
    """Without what moves a cursor, changes colours or the direction of writing; lines and tabs stay."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def one_line(text: str, most: int = 2000) -> str:
    """``clean`` in one line, cut where it is long."""
    words = " ".join(clean(text).split())
    return words if len(words) <= most else words[:most] + " ..."


def cell(value: object) -> object:
    """A cell of a table for export: a text that a spreadsheet would compute gets an apostrophe before it."""
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
