"""A leased job and how it ended: plain values that travel between processes and machines, without a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Lease:
    """A leased job."""

    job: int
    attempt: int
    kind: str
    payload: dict[str, Any]
    cpus: float = 1.0
    memory_mb: int = 0

    @property
    def name(self) -> tuple[int, int]:
        return self.job, self.attempt


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended: a verdict, or a fault of ours.

    Attributes
    ----------
    verdict : str
        ``ok`` and the others of score.json; empty: a fault.
    error : str
        The reason of a verdict, or what our fault was.
    final : bool
        A fault that trying again cannot fix.
    unwell : bool
        The machine is to blame (its disk is full, storage is away): the job goes back without counting a fault.
    later : bool
        The machine is too busy for a fair clock: the job goes back without counting a fault, and waits a while.
    """

    verdict: str = ""
    result: dict[str, Any] | None = None
    run: str | None = None
    error: str = ""
    final: bool = False
    unwell: bool = False
    later: bool = False
