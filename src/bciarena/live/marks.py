"""Which trials of a recording must not be used, from what was noted while it was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import VOID
from bciarena.recording import Event, Lost, Marks

CLOSED = 241
OVER = (CLOSED, 243)


def marks_of(book: Rulebook, events: Sequence[Event], samples: int, lines: Iterable[Mapping[str, Any]]) -> Marks:
    """Trials in which samples were lost, a channel gave no numbers, or whose stimulus was not shown as planned.

    Parameters
    ----------
    lines : iterable of mapping
        As `LiveIn.mark` gives them.
    """
    noted = list(lines)
    invalid: dict[int, str] = {}
    for event, end in _trials(book, events, samples):
        reasons = [line["reason"] for line in noted if "sample" in line and _meets(line, event, end)]
        reasons += [f"void by the stimulus page at {e.sample / book.rate:.3f} s" for e in events
                    if e.code == VOID and event.sample < e.sample <= end]  # fmt: skip
        if reasons:
            invalid[event.sample] = "; ".join(dict.fromkeys(reasons))
    lost = [Lost(line["lost_at"] / book.rate, line["code"], line["reason"]) for line in noted if "lost_at" in line]
    return Marks(book.opens, invalid, tuple(lost))


def _trials(book: Rulebook, events: Sequence[Event], samples: int) -> Iterable[tuple[Event, int]]:
    """Every opening code with the sample where its trial ends: its closing code, the next opening, or the end."""
    ends = [event.sample for event in events if event.code in book.opens or event.code in OVER]
    for event in events:
        if event.code in book.opens:
            yield event, next((sample for sample in ends if sample > event.sample), samples)


def _meets(line: Mapping[str, Any], event: Event, end: int) -> bool:
    if "code" in line:
        return bool(line["sample"] == event.sample)
    return bool(line["sample"] <= end and line["until"] > event.sample)
