"""What a contest's audit.py may offer as AUDIT: the questions its truth answers, and what may rightly tell of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook

Aspect = Callable[[int], str | None]
"""What a trial's code says about one question; None where the question is not asked of such a trial."""


@dataclass(frozen=True)
class Audit:
    """How a contest's data is examined.

    Attributes
    ----------
    aspects : mapping of str to callable
        The questions its truth answers (real or generated? whose?). Empty: the whole truth and, where trials may be
        idle, whether one is.
    rightful : mapping of str to frozenset of str
        By probe, aspects that what it sees may tell: a person's amplitude is that person's own.
    by_number : mapping of str to callable
        By aspect that a whole block shares, what the contest's text says of a block by its number. The probe of files
        then asks whether the text is right, not whether the trials of a block are alike: that they are.
    top_hz : float
        Up to here there is signal that entries are meant to decode; what is above it is a trace of filters.
    response_s : float or None
        How soon after a trial's onset no brain can have responded yet: amplitude is looked at until then. None: over
        the whole trial, where no amplitude may tell anything.
    """

    aspects: Mapping[str, Aspect] = field(default_factory=dict)
    rightful: Mapping[str, frozenset[str]] = field(default_factory=dict)
    by_number: Mapping[str, Callable[[int], str]] = field(default_factory=dict)
    top_hz: float = 45.0
    response_s: float | None = 0.1


def audit_of(book: Rulebook) -> Audit:
    """The contest's own, or the usual one."""
    return contest(book).part("audit", Audit, Audit())


def aspects_of(book: Rulebook) -> dict[str, Aspect]:
    """The questions asked of every trial, by name."""
    own = dict(audit_of(book).aspects)
    if own:
        return own
    found: dict[str, Aspect] = {"answer": lambda code: None if code in book.idle else book.truth[code]}
    if book.idle:
        found["idle"] = lambda code: "idle" if code in book.idle else "asked"
    return found
