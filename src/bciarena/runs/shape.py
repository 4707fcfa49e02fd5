"""What a JSON value must look like, described by types: a check with a message, and the same as a JSON Schema.

Supported are str, int, float, bool, None, Any, Literal of texts, list, dict with texts as keys, unions, TypedDict, and
Annotated, whose second part describes the field. Fields that a type does not name are allowed: a later version may add
some.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

PLAIN: dict[Any, tuple[str, str]] = {
    str: ("string", "a text"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
    NoneType: ("null", "null"),
}
"""The name of a type in JSON Schema, and in a message."""

DEPTH = 32
"""How deep JSON from outside may be nested: far more than any type of ours, far less than exhausts a reader."""
LARGEST = 1 << 63
MOST_BYTES = 256 << 20
"""The largest file of JSON or text that is read; a run's ledger of two million reports is smaller."""


def read_text(path: Path, errors: str = "strict") -> str:
    """A text file from outside; ValueError where it is too large to be read whole."""
    return read_bytes(path).decode("utf-8", errors)


def read_bytes(path: Path) -> bytes:
    """A file from outside, never more of it than is allowed; ValueError where there is more."""
    with open(path, "rb") as file:
        content = file.read(min(path.stat().st_size, MOST_BYTES) + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"larger than {MOST_BYTES >> 20} MiB")
    return content


def parsed(text: str) -> Any:
    """JSON from outside; ValueError for what is none, for NaN and infinities, and for what is nested too deep."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError(f"nested deeper than {DEPTH}") from None
    if text.count("[") + text.count("{") > DEPTH:
        _measure(value)
    return value


def _measure(value: Any) -> None:
    level = [value]
    for _ in range(DEPTH + 1):
        level = [
            inner
            for part in level
            for inner in (part.values() if isinstance(part, dict) else part)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise ValueError(f"nested deeper than {DEPTH}")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def problem(value: Any, kind: Any, where: str = "") -> str:
    """What is wrong with a value, with its place in it; empty when nothing is."""
    kind = _bare(kind)
    at = f"{where or 'it'} is {_shown(value)}"
    if kind is Any:
        return ""
    if kind in PLAIN:
        return "" if _is_plain(value, kind) else f"{at}, not {PLAIN[kind][1]}"
    if choices := _choices(kind):
        return "" if isinstance(value, str) and value in choices else f"{at}, not one of {', '.join(choices)}"
    if get_origin(kind) in (Union, UnionType):
        tried = [problem(value, option, where) for option in get_args(kind)]
        return "" if "" in tried else tried[0]
    if get_origin(kind) is list:
        if not isinstance(value, list):
            return f"{at}, not a list"
        (inner,) = get_args(kind)
        parts = ((f"{where}[{index}]", part, inner) for index, part in enumerate(value))
    elif not isinstance(value, dict):
        return f"{at}, not an object"
    elif get_origin(kind) is dict:
        inner = get_args(kind)[1]
        parts = ((_under(where, name), part, inner) for name, part in value.items())
    else:
        if missing := kind.__required_keys__ - value.keys():
            return f"{_under(where, min(missing))} is missing"
        fields = _fields(kind)
        parts = ((_under(where, name), value[name], fields[name]) for name in fields if name in value)
    return next((found for place, part, inner in parts if (found := problem(part, inner, place))), "")


def json_schema(kind: Any) -> dict[str, Any]:
    """The same as a JSON Schema."""
    words = {"description": kind.__metadata__[0]} if get_origin(kind) is Annotated else {}
    return words | _schema(_bare(kind))


def _schema(kind: Any) -> dict[str, Any]:
    if kind is Any:
        return {}
    if kind in PLAIN:
        return {"type": PLAIN[kind][0]}
    if choices := _choices(kind):
        return {"enum": list(choices)}
    if get_origin(kind) in (Union, UnionType):
        return {"anyOf": [json_schema(option) for option in get_args(kind)]}
    if get_origin(kind) is list:
        return {"type": "array", "items": json_schema(get_args(kind)[0])}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": json_schema(get_args(kind)[1])}
    fields = {name: json_schema(inner) for name, inner in _fields(kind).items()}
    return {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").split()),
        "properties": fields,
        "required": sorted(kind.__required_keys__),
    }


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _fields(kind: Any) -> dict[str, Any]:
    assert is_typeddict(kind), f"{kind}: JSON values cannot be checked against this type"
    hints = get_type_hints(kind, include_extras=True)
    return {
        name: get_args(inner)[0] if "Required" in str(get_origin(inner)) else inner for name, inner in hints.items()
    }


def _choices(kind: Any) -> tuple[str, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()


def _is_plain(value: Any, kind: Any) -> bool:
    if kind in (int, float):  # as in JSON Schema, 2.0 is a whole number; none that would overflow a computation
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if isinstance(value, float) and not math.isfinite(value):
            return False
        return abs(value) < LARGEST and value == int(value) if kind is int else abs(value) <= sys.float_info.max
    return isinstance(value, kind)


def _under(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
