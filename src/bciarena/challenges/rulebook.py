"""What a rulebook says. One type for all contests; each contest is one file of values with their clauses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bciarena.challenges.trial import Score, Trial


class Rule(NamedTuple):
    """One field of a rulebook, with the words it rests on."""

    field: str
    value: Any
    clause: str


WORDING = frozenset({"title", "title_zh", "clauses"})
"""Fields that may be reworded without changing the rules."""


@dataclass(frozen=True)
class Rulebook:
    """The rules of one contest.

    Attributes
    ----------
    truth : mapping of int to str
        Every code that opens a trial, and what the subject did, in the vocabulary of the answers.
    idle : frozenset of int
        Opening codes of trials in which nothing must be reported.
    mask : tuple of int, length 256
        What each code becomes in the stream an entry sees.
    masked : frozenset of int
        Codes that stand where a truth was taken out: a data folder with these cannot be scored.
    limit_s : float or None
        Used length must stay *below* this; None: the trial's closing code limits it.
    limit_covers_thinking : bool
        Whether computing time counts towards the limit (on the think clock).
    missing_s : float or None
        Length of a trial without report; None: from its opening to its closing code.
    floor_s : float
        A report's length counts as at least this.
    late_answer : str or None
        What a late answer is recorded as; None: as given.
    closing : int or None
        Code that every trial must have, the last moment to answer.
    decides : "first" or "last"
        Which report of a trial counts; "last": the last of those that came first after their packet.
    repeat_is_violation : bool
        Whether a further report in a trial is noted as a violation.
    answers : "integer", "text" or "text_or_integer"
        What type an answer has.
    names_subject : bool
        Whether the stream tells whose data it is.
    finish : "flag" or "object"
        Whether the last packet carries the finish flag, or an object without data follows it.
    """

    id: str
    title: str
    title_zh: str
    channels: tuple[str, ...]
    rate: int
    packet_n: int
    truth: Mapping[int, str]
    idle: frozenset[int]
    mask: tuple[int, ...]
    masked: frozenset[int]
    vocabulary: Mapping[str, str]
    answers: Literal["integer", "text", "text_or_integer"]
    limit_s: float | None
    limit_covers_thinking: bool
    missing_s: float | None
    floor_s: float
    late_answer: str | None
    closing: int | None
    decides: Literal["first", "last"]
    repeat_is_violation: bool
    score: Callable[[Sequence[Trial]], Score]
    unit: str
    shard: Literal["subject"] | None
    names_subject: bool
    finish: Literal["flag", "object"]
    dialect: Literal["A", "B", "C"]
    python: str
    clauses: Mapping[str, str]

    @property
    def name(self) -> str:
        """The id without its version."""
        return self.id.split("/")[0]

    @property
    def opens(self) -> frozenset[int]:
        """Codes that open a trial."""
        return frozenset(self.truth)

    def masked_trigger(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The trigger row an entry may see, shape (samples,)."""
        return np.asarray(self.mask, dtype=np.float64)[codes]

    @property
    def digest(self) -> str:
        """Changes when any rule changes; goes into every ledger."""
        words = []
        for item in fields(self):
            if item.name in WORDING:
                continue
            value = getattr(self, item.name)
            if callable(value):
                value = f"{value.__module__}.{value.__qualname__}"
            elif isinstance(value, Mapping):
                value = sorted(value.items())
            elif isinstance(value, frozenset):
                value = sorted(value)
            words.append(f"{item.name}={value!r}")
        return hashlib.sha256("\n".join(words).encode()).hexdigest()


def build(*rules: Rule) -> Rulebook:
    """A rulebook from its rules; every field must be given once, with its clause."""
    names = [rule.field for rule in rules]
    wanted = {item.name for item in fields(Rulebook)} - {"clauses"}
    if len(set(names)) != len(names) or set(names) != wanted:
        raise TypeError(f"rules given: {sorted(names)}; needed: {sorted(wanted)}")
    values = {rule.field: rule.value for rule in rules}
    return Rulebook(**values, clauses={rule.field: rule.clause for rule in rules})


def mask(changes: Mapping[int, int]) -> tuple[int, ...]:
    """A table of 256 codes in which only ``changes`` differ from the code itself."""
    return tuple(changes.get(code, code) for code in range(256))
