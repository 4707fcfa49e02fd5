"""The three kinds of error: wrong input, a failing entry, and our own fault.

They are different types because they end differently: wrong input is reported in one line (exit 2), a failing
entry gets a final verdict (exit 1), and a fault of ours is retried and shown to the operator (exit 3).
"""

from bciarena.verdicts import Verdict


class ArenaError(Exception):
    """Base of everything this package raises on purpose."""


class BadInput(ArenaError):
    """The user gave something unusable; the message is one line: what, where, what to do."""


class EntryFailed(ArenaError):
    """The entry is at fault.

    Parameters
    ----------
    verdict : Verdict
        How its run ended, e.g. ``crashed``.
    reason : str
        What happened, for the contestant.
    """

    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(f"{verdict}: {reason}")
        self.verdict: Verdict = verdict
        self.reason = reason


class CheckFailed(EntryFailed):
    """``arena check`` found what would cost the entry its score."""

    def __init__(self, problem: str) -> None:
        ArenaError.__init__(self, f"check: {problem}")
        self.verdict = "invalid_entry"
        self.reason = problem


class Fault(ArenaError):
    """Our side failed; the run says nothing about the entry and may be repeated."""
