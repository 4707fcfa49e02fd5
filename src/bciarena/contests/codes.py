"""What every code of a contest means, in a word and as HED tags (Hierarchical Event Descriptors, schema 8.3.0).

Codes that all contests share are here. A contest's own are in its ``hed.toml``: under ``[answers]`` by the answer that
a code stands for, under ``[codes]`` by the code, single (``"7"``) or a range (``"1-40"``) in whose text ``{n}`` counts
from 1. What is not there is described by its answer's name.
"""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple

from bciarena.contests.registry import contest
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import VOID
from bciarena.errors import BadInput


class Code(NamedTuple):
    """A word for people, and tags for programs."""

    name: str
    hed: str


SHARED = {
    250: Code("experiment start", "Experiment-structure, Recording, Label/Experiment-start"),
    251: Code("experiment end", "Experiment-structure, Recording, Label/Experiment-end"),
    242: Code("block start", "Experiment-structure, Time-block, Label/Block-start"),
    243: Code("block end", "Experiment-structure, Time-block, Label/Block-end"),
    240: Code("trial start", "Experiment-structure, Experimental-trial, Label/Trial-start"),
    241: Code("trial end", "Experiment-structure, Experimental-trial, Label/Trial-end"),
    VOID: Code("void trial", "Experiment-structure, Experimental-trial, Label/Void-trial"),
}


def codes_of(book: Rulebook) -> dict[int, Code]:
    """Every code that the contest's recordings may hold; the trial's opening ones in masked form, too."""
    found = {code: Code(f"code {code}", f"Experiment-structure, Label/Code-{code}") for code in book.masked}
    found |= SHARED
    answers, codes = _tables(book)
    for code, answer in book.truth.items():
        name = book.vocabulary.get(answer, "no answer")
        tags = f"Experiment-structure, Experimental-trial, Label/{_label(name)}"
        found[code] = Code(name, answers.get(answer, tags))
    for span, (name, tags) in codes.items():
        first, _, last = span.partition("-")
        for n, code in enumerate(range(int(first), int(last or first) + 1), 1):
            found[code] = Code(name.format(n=n), tags.format(n=n))
    return found


def _tables(book: Rulebook) -> tuple[dict[str, str], dict[str, list[str]]]:
    path = contest(book).folder / "hed.toml"
    try:
        said = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
        answers = {str(key): str(text) for key, text in said.get("answers", {}).items()}
        codes = {str(key): [str(name), str(text)] for key, (name, text) in said.get("codes", {}).items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise BadInput(f"{path}: {error}") from error
    if wrong := [key for key in codes if not re.fullmatch(r"\d{1,3}(-\d{1,3})?", key)]:
        raise BadInput(f"{path}: [codes] {wrong[0]!r}: write a code, or a range such as 1-40")
    return answers, codes


def _label(text: str) -> str:
    """A text as HED takes it for a label."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") or "Trial"
