"""Playing an algorithm object in this process: for a debugger, a notebook and tests. Never for ranking."""

from __future__ import annotations

import time
import traceback
from pathlib import Path
from typing import Any

from bciarena.contestant.plain import play_plain
from bciarena.contests import rulebook as find_rulebook
from bciarena.match import End, Match
from bciarena.recording import Recording, open_recording
from bciarena.referee.desk import Clock
from bciarena.runs import run_match
from bciarena.verdicts import Verdict


class _OverBudget(BaseException):
    """Not an Exception, so that an entry's own handlers do not swallow it."""


class _Client:
    """The match as an entry in the same process sees it, with the run's wall-clock budget."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.info = match.info
        self.deadline_s = time.monotonic() + match.budget_s
        self.report = match.report

    def next(self) -> Any:
        if time.monotonic() > self.deadline_s:
            raise _OverBudget
        return self.match.next()


def in_process(entry: Any) -> Any:
    """A player for an object of dialect D."""

    def player(match: Match) -> End:
        wall, cpu = time.monotonic(), time.process_time()
        verdict: Verdict = "ok"
        reason, notes = "", ["played in the referee's own process: not for ranking"]
        try:
            play_plain(entry, _Client(match))  # type: ignore[no-untyped-call]
        except _OverBudget:
            verdict, reason = "over_budget", f"the run took longer than its budget of {match.budget_s:.0f} s"
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            words = f"{type(error).__name__}: {error} (line {last.lineno} of {Path(last.filename).name})"
            if match.finish_seen:
                notes.append(f"after the finish flag: {words}")
            else:
                verdict, reason = "crashed", words
        wall_s, cpu_s = time.monotonic() - wall, time.process_time() - cpu
        return End(verdict, reason, tuple(notes), cpu_s, wall_s, "in-process")

    return player


def play(
    entry: Any,
    challenge: str,
    data: str | Path | Recording,
    *,
    out: str | Path | None = None,
    clock: Clock = "think",
    budget_s: float | None = None,
) -> dict[str, Any]:
    """Play an algorithm object on a data folder and score it by the challenge's rules.

    Parameters
    ----------
    entry : object
        Dialect D: has ``step(packet)``, ``run(packets)`` or ``predict(X)``.
    challenge : str
        ``imagery``, ``speller/1``, ...
    data : path or Recording
        A data folder with truth.

    Returns
    -------
    dict
        The content of score.json: ``score``, ``metrics``, ``trials``...
    """
    recording = data if isinstance(data, Recording) else open_recording(data)
    where = Path(out) if out else None
    return run_match(find_rulebook(challenge), recording, in_process(entry), out=where, clock=clock, budget_s=budget_s)
