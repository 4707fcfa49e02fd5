"""Where a block is: its steps and trials, which of them cannot be used, and which are shown again."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from bciarena.lab.trials import Shown, onward, repeat_at, trials_of, with_repeat

LATEST_S = 0.5  # so long before the last trial's end a trial may still be put behind it


def clock_s() -> float:
    """The hub's clock, the same as LSL's on this machine: monotonic seconds."""
    return time.monotonic()


class Course:
    """The steps of a block and how far it is; the hub tells the world of it."""

    _opens: Collection[int]
    repeat: bool
    running: bool
    index: int
    steps: list[dict[str, Any]]
    trials: list[Shown]

    def _set_out(self, steps: list[dict[str, Any]]) -> None:
        """Begin anew."""
        self.index = -1
        self.void: dict[int, str] = {}  # trial, from 0, to why
        self.spoilt: dict[int, str] = {}  # shown as planned, but not recorded well
        self._shown_s: dict[int, float] = {}  # step to the time of its frame
        self._plan(steps)

    def _plan(self, steps: list[dict[str, Any]]) -> None:
        self.steps = steps
        self.trials = trials_of(steps, self._opens)
        self.opening = [trial.opening for trial in self.trials]
        self.onward = onward(steps, self.trials)

    @property
    def trial(self) -> int:
        """The trial that was opened last, from 1; 0 before the first."""
        return sum(opened <= self.index for opened in self.opening)

    def _resume_at(self) -> int:
        """Where a page that comes back goes on: with the next trial that was not begun."""
        return 0 if self.index < 0 else self.onward[self.index]

    def _open_trial(self) -> int | None:
        """The trial on the screen, from 0; None between trials, and where it is void already."""
        number = next((n for n, t in enumerate(self.trials) if t.begin <= self.index < t.close), None)
        return None if number in self.void else number

    def _note(self, kind: str, number: int, reason: str) -> None:
        """A trial is void or spoilt: it is shown again at the end, where that is asked for."""
        (self.void if kind == "void" else self.spoilt)[number] = reason
        if self.repeat:
            self._plan(with_repeat(self.steps, self.trials, number))

    def _hit(self, from_s: float, until_s: float) -> list[int]:
        """Trials that were shown at a time and are not marked yet."""
        found = []
        for number, trial in enumerate(self.trials):
            begin_s = self._shown_s.get(trial.opening)
            if begin_s is None or number in self.void or number in self.spoilt:
                continue
            end_s = next((at for k, at in self._shown_s.items() if k >= trial.close), float("inf"))
            if from_s <= end_s and until_s >= begin_s:
                found.append(number)
        return found

    def _may_repeat(self) -> bool:
        """Whether a trial can still be put behind the last: the page must not be there already."""
        place = repeat_at(self.steps, self.trials[-1])
        if not self.running or self.index >= place:
            return False
        left_s = self.steps[self.index]["duration_s"] - (clock_s() - self._shown_s.get(self.index, clock_s()))
        return self.index < place - 1 or left_s > LATEST_S
