"""The type of all rulebooks; each contest's rules.py fills it with values and their clauses."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.probe import probe
from bciarena.contests.scoring import Scoring
from bciarena.contests.trial import Score, Trial


class Rule(NamedTuple):
    """One field of a rulebook, with the clause it rests on."""

    field: str
    value: Any
    clause: str


WORDING = frozenset({"title", "title_zh", "clauses", "scoring", "formerly", "classes"})
"""Fields that may change without changing the rules; what the score code does enters the digest by its results."""


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
        Codes that replace a truth in the released data: a data folder with these cannot be scored.
    forbidden : frozenset of int
        Codes that must not occur in scored data: the text reserves them.
    counts_from : "packet" or "trigger"
        Whether a trial's length counts from the packet after its opening code (R1) or from that code's sample.
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
        Code that every trial must have: the last moment to answer.
    decides : "first" or "last"
        Which report of a trial counts; "last": the last of those that came first after their packet.
    repeat_is_violation : bool
        Whether a further report in a trial is noted as a violation.
    answers : "integer", "text" or "text_or_integer"
        What type an answer has.
    scoring : Scoring
        How judged trials become a score.
    names_subject : bool
        Whether the stream says whose data it is.
    finish : "flag" or "object"
        Whether the last packet carries the finish flag, or an object without data follows it.
    classes : tuple of str
        Names of the class a contestant writes, the usual one first.
    constants : mapping of str to value
        Every further number the score depends on.
    formerly : frozenset of str
        Digests under which runs were kept before digests covered the score itself; the rules were the same.
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
    forbidden: frozenset[int]
    vocabulary: Mapping[str, str]
    answers: Literal["integer", "text", "text_or_integer"]
    counts_from: Literal["packet", "trigger"]
    limit_s: float | None
    limit_covers_thinking: bool
    missing_s: float | None
    floor_s: float
    late_answer: str | None
    closing: int | None
    decides: Literal["first", "last"]
    repeat_is_violation: bool
    scoring: Scoring
    unit: str
    shard: Literal["subject"] | None
    names_subject: bool
    finish: Literal["flag", "object"]
    dialect: Literal["A", "B", "C", "D"]
    python: str
    classes: tuple[str, ...]
    formerly: frozenset[str]
    constants: Mapping[str, Any]
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

    def score(self, trials: Sequence[Trial]) -> Score:
        """The score of judged trials."""
        return self.scoring.score(self, trials)

    @cached_property
    def digest(self) -> str:
        """Changes when any rule changes; goes into every ledger.

        Covers every value and constant, and what the score code makes of a fixed set of synthetic trials: code may be
        rewritten under the same digest as long as it gives the same scores.
        """
        words = [
            f"{item.name}={_plain(getattr(self, item.name))!r}" for item in fields(self) if item.name not in WORDING
        ]
        words.append(f"scores={probe(self)!r}")
        return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """A value whose text is always the same."""
    if isinstance(value, Mapping):
        return sorted(value.items())
    return sorted(value) if isinstance(value, frozenset) else value


USUAL: dict[str, tuple[Any, str]] = {
    "idle": (frozenset(), "every trial asks for an answer"),
    "forbidden": (frozenset(), "no code is reserved in scored data"),
    "counts_from": ("packet", "counted from the packet after the trigger's; R1"),
    "floor_s": (0.0, "no lower bound is given"),
    "late_answer": (None, "a late answer is shown as given"),
    "repeat_is_violation": (False, "repeats are allowed and do nothing"),
    "formerly": (frozenset(), "no older digests"),
}
"""Rules that most contests share; a contest names them only where it differs."""


def build(*rules: Rule) -> Rulebook:
    """A rulebook from its rules: every field once, with its clause; other names become constants of the score."""
    names = [rule.field for rule in rules]
    known = {item.name for item in fields(Rulebook)} - {"clauses", "constants"}
    twice = sorted({name for name in names if names.count(name) > 1})
    missing = sorted(known - set(names) - set(USUAL))
    if twice or missing:
        raise TypeError(f"rules given twice: {', '.join(twice) or 'none'}; missing: {', '.join(missing) or 'none'}")
    whole = [Rule(name, *usual) for name, usual in USUAL.items() if name not in names] + list(rules)
    values = {rule.field: rule.value for rule in whole if rule.field in known}
    constants = {rule.field: rule.value for rule in whole if rule.field not in known}
    return Rulebook(**values, constants=constants, clauses={rule.field: rule.clause for rule in whole})


def mask(changes: Mapping[int, int]) -> tuple[int, ...]:
    """A table of 256 codes in which only ``changes`` differ from the code itself."""
    return tuple(changes.get(code, code) for code in range(256))
