"""What is told to the hub, and what it keeps: messages of pages and processes, whatever stands in them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from bciarena.words import LANGUAGES, Said


def kept_lines(log: Path | None) -> list[dict[str, Any]]:
    """The lines of a log; what was cut off in the middle of a line is left out."""
    if log is None or not log.is_file():
        return []
    return [json.loads(line) for line in log.read_bytes().rpartition(b"\n")[0].splitlines()]


def number(told: Any, otherwise: float) -> float:
    """A finite number of a page's message, whatever stands there."""
    try:
        value = float(told)
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return value if math.isfinite(value) else otherwise


def sentence(message: dict[str, Any], most: int) -> str:
    """What someone has to say, in every language in which it came."""
    text, told = str(message.get("text"))[:most], message.get("texts")
    if not isinstance(told, dict):
        return text
    return Said({language: str(told.get(language) or text)[:most] for language in LANGUAGES})
