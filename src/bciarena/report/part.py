"""The part of a report that is true of one contest only: its report.py offers it as REPORT."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial

if TYPE_CHECKING:
    from bciarena.report.figures import Figure
    from bciarena.report.kept import KeptRun
    from bciarena.report.texts import Said

Change = Callable[[Rulebook, Trial], Trial]


@dataclass(frozen=True)
class Part:
    """What a contest's report.py offers as REPORT; all of it has a default.

    Attributes
    ----------
    columns : tuple of str
        Metrics a board shows beside the score.
    channels : tuple of str
        What the replay draws.
    figures : sequence of callable
        Figures that only this contest has.
    findings : callable, optional
        Sentences about a run that only this contest can say.
    changes : mapping of str to callable
        What a trial would be without one kind of loss, by the loss's key among the words; ``None`` is the default
        (every answer right).
    person : callable, optional
        Whose trial it is, where a block mixes people.
    mistakes : bool
        Whether the commonest confusion of two answers is worth mentioning.
    """

    columns: tuple[str, ...] = ("accuracy", "mean_length_s")
    channels: tuple[str, ...] = ("FC3", "FC4", "C3", "Cz", "C4", "CP3", "CP4", "Oz")
    figures: Sequence[Callable[[KeptRun], Figure | None]] = ()
    findings: Callable[[KeptRun], list[Said]] | None = None
    changes: Mapping[str, Change] = field(default_factory=dict)
    person: Callable[[Trial], int] | None = None
    mistakes: bool = True


def part_of(book: Rulebook) -> Part:
    """The contest's own part, or the default: every metric the score has."""
    return contest(book).part("report", Part, Part(columns=_metrics(book)))


def _metrics(book: Rulebook) -> tuple[str, ...]:
    found: dict[str, Any] = book.score([]).metrics
    return tuple(found)
