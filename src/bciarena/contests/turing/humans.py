"""The question behind the contest: was it the human who commanded the robot, or the machine?

Every task but Idle is a command from the subject; in an Idle trial the robot plays on its own. So a trial's answer
implies one about its author, and a run can be judged by that alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Author = Literal["human", "machine"]
IDLE = 7


def author(task: int | str) -> Author:
    """Who commanded the robot, by the task of Table 3 (1-7).

    >>> author(3), author("7")
    ('human', 'machine')
    """
    if not 1 <= int(task) <= IDLE:
        raise ValueError(f"task {task}: tasks are 1 to {IDLE}")
    return "machine" if int(task) == IDLE else "human"


@dataclass(frozen=True)
class Authors:
    """Trials by who commanded and who was said to have; a trial without a valid answer is in ``unanswered``."""

    human_as_human: int = 0
    human_as_machine: int = 0
    machine_as_human: int = 0
    machine_as_machine: int = 0
    unanswered: int = 0

    @property
    def trials(self) -> int:
        return self.answered + self.unanswered

    @property
    def answered(self) -> int:
        return self.human_as_human + self.human_as_machine + self.machine_as_human + self.machine_as_machine

    @property
    def accuracy(self) -> float:
        """Share of all trials whose author was named; 0 if there are none."""
        return (self.human_as_human + self.machine_as_machine) / self.trials if self.trials else 0.0


def human_or_machine(truths: Iterable[int | str], answers: Iterable[int | str | None]) -> Authors:
    """Count authors over trials.

    Parameters
    ----------
    truths : iterable of int or str
        The task of each trial, 1-7.
    answers : iterable of int, str or None
        What was answered; None, or anything that is no task, counts as unanswered.

    >>> human_or_machine([1, 7, 4, 7], [2, 7, None, 5])
    Authors(human_as_human=1, human_as_machine=0, machine_as_human=1, machine_as_machine=1, unanswered=1)
    """
    counts = dict.fromkeys(Authors.__dataclass_fields__, 0)
    for truth, answer in zip(truths, answers, strict=True):
        was = author(truth)
        try:
            counts[f"{was}_as_{author(answer)}" if answer is not None else "unanswered"] += 1
        except (TypeError, ValueError):
            counts["unanswered"] += 1
    return Authors(**counts)
