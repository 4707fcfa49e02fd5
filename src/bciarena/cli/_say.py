"""What a command tells: lines for people, in their language, or one JSON document for programs."""

from __future__ import annotations

import sys
from typing import Any

from bciarena.plaintext import clean, json_text
from bciarena.words import shown

_given = False


def say(*parts: str, err: bool = False) -> None:
    """A line on stdout (``err``: stderr), in the reader's language, without anything that moves a cursor."""
    print(clean("".join(map(shown, parts))), file=sys.stderr if err else sys.stdout, flush=err)


def give(value: Any) -> None:
    """The result of a command with ``--json``: the one document on stdout."""
    global _given
    _given = True
    print(json_text(value))


def tell(as_json: bool, value: Any, *lines: str) -> None:
    """The result of a command: its document, or lines about it."""
    if as_json:
        give(value)
        return
    for line in lines:
        say(line)


def forget() -> None:
    """A new command begins."""
    global _given
    _given = False


def is_given() -> bool:
    """Whether this command has printed its document."""
    return _given
