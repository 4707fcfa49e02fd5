"""How a run can end: the one list, from which the schema, the documents and the advice of arena check are made."""

from __future__ import annotations

from typing import Literal

Verdict = Literal[
    "ok",
    "crashed",
    "over_budget",
    "out_of_memory",
    "protocol_error",
    "import_error",
    "killed",
    "invalid_entry",
]

MEANING: dict[Verdict, str] = {
    "ok": "It played to its end, or returned early.",
    "crashed": "It raised an error or died in the middle: only the reports made until then count.",
    "over_budget": "It took longer than the data lasts: such a run is invalid and scores 0.",
    "out_of_memory": "It needed more memory than a run has: only the reports made until then count.",
    "protocol_error": "It wrote where only the platform may write.",
    "import_error": "It cannot be loaded, so it gets no score.",
    "killed": "It was ended by a signal.",
    "invalid_entry": "It cannot be opened as an entry of this challenge.",
}
"""What a verdict says to a contestant."""

VOID: frozenset[Verdict] = frozenset({"over_budget"})
"""Verdicts that make the whole run invalid: the score is 0, the trials are kept."""


def verdict_table() -> str:
    """The list as Markdown, for the documents."""
    rows = [f"| `{name}` | {words} |" for name, words in MEANING.items()]
    return "\n".join(["| verdict | what it says |", "|---|---|", *rows])
