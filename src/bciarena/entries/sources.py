"""What can be known of a Python file without running it.

Sources are read as tokens: unlike a parser, a tokeniser cannot be crashed by deep nesting, and it also reads code of
other Python versions. The first two bytes of a compiled file identify its Python.
"""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

MAX_SOURCE_BYTES = 1 << 19  # the tokeniser reads a megabyte of brackets in five seconds

# The number every release of a version writes at the start of its .pyc files (the last one before its final release).
MAGIC = {
    62211: "2.7",
    3379: "3.6",
    3394: "3.7",
    3413: "3.8",
    3425: "3.9",
    3439: "3.10",
    3495: "3.11",
    3531: "3.12",
    3571: "3.13",
    3627: "3.14",
}


def python_of(compiled: Path) -> str:
    """The Python version that compiled a .pyc file, or ``unknown (magic 1234)``."""
    with open(compiled, "rb") as file:
        start = file.read(4)
    if len(start) < 4 or start[2:] != b"\r\n":
        return "unknown (not a .pyc file)"
    number = int.from_bytes(start[:2], "little")
    return MAGIC.get(number, f"unknown (magic {number})")


@dataclass
class Source:
    """Top-level names of a source file.

    Attributes
    ----------
    classes : list of str
        Classes defined at the top level.
    bases : dict
        For each of them the names in its brackets.
    imports : set of str
        First parts of imported module names (``from .x import y`` gives ``x``).
    texts : set of str
        Every plain string literal: names of files to open are among them.
    problem : str
        Why it could not be read to its end, if so.
    """

    classes: list[str] = field(default_factory=list)
    bases: dict[str, list[str]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    problem: str = ""


def read_source(path: Path) -> Source:
    """Scan a source file; what cannot be read is left out and named in ``problem``."""
    found = Source()
    if path.stat().st_size > MAX_SOURCE_BYTES:
        found.problem = "too long to be read"
        return found
    lines: list[list[tokenize.TokenInfo]] = [[]]
    try:
        for token in tokenize.tokenize(io.BytesIO(path.read_bytes()).readline):
            if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
                lines.append([])
            elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING):
                lines[-1].append(token)
    except (tokenize.TokenError, SyntaxError, ValueError) as error:
        found.problem = str(error)
    for line in lines:
        _look_at(line, found)
    return found


def _look_at(line: list[tokenize.TokenInfo], found: Source) -> None:
    words = [token.string for token in line]
    found.texts.update(_text(token.string) for token in line if token.type == tokenize.STRING)
    for at, word in enumerate(words):  # `try: import x` has it in the middle
        if word not in ("import", "from") or (at and words[at - 1] not in (":", ";")):
            continue
        rest = words[at + 1 :]
        if word == "from":
            while rest and set(rest[0]) == {"."}:
                rest = rest[1:]
            if rest[:1] == ["import"]:
                found.imports.update(item for item in rest[1:] if item.isidentifier())
            else:
                found.imports.update(rest[:1])
        else:
            found.imports.update(rest[:1])
            found.imports.update(rest[i + 1] for i, item in enumerate(rest[:-1]) if item == ",")
    if len(line) > 1 and words[0] == "class" and line[0].start[1] == 0 and words[1].isidentifier():
        found.classes.append(words[1])
        found.bases[words[1]] = [word for word in words[2:] if word.isidentifier()]


def _text(literal: str) -> str:
    body = literal.lstrip("rRbBuUfF")
    quote = body[:3] if body[:3] in ('"""', "'''") else body[:1]
    return body[len(quote) : -len(quote)]
