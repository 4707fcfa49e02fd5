"""Playing an algorithm object in this process: for a debugger, a notebook and tests. Never for ranking."""

from __future__ import annotations

import time
import traceback
from pathlib import Path
from typing import Any

from bciarena.contestant.plain import play_plain
from bciarena.contests import rulebook as find_rulebook
from bciarena.errors import BadInput
from bciarena.match import End, Match
from bciarena.recording import Recording, open_recording
from bciarena.referee.desk import Clock
from bciarena.runs import Result, run_match
from bciarena.verdicts import Verdict

VERBS = ("step", "run", "predict", "load_model")


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


class InProcess:
    """A player for an object of dialect D; what it raised is kept in ``error``."""

    def __init__(self, entry: Any) -> None:
        self.entry = entry
        self.error: Exception | None = None

    def __call__(self, match: Match) -> End:
        wall, cpu = time.monotonic(), time.process_time()
        verdict: Verdict = "ok"
        reason, notes = "", ["played in the referee's own process: not for ranking"]
        try:
            play_plain(self.entry, _Client(match))  # type: ignore[no-untyped-call]
        except _OverBudget:
            verdict, reason = "over_budget", f"the run took longer than its budget of {match.budget_s:.0f} s"
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            words = f"{type(error).__name__}: {error} (line {last.lineno} of {Path(last.filename).name})"
            if match.finish_seen:
                notes.append(f"after the finish flag: {words}")
            else:
                verdict, reason, self.error = "crashed", words, error
                at = match.progress
                error.add_note(f"in a match: subject {at.subject}, block {at.block}, after {at.packets} packets")
        wall_s, cpu_s = time.monotonic() - wall, time.process_time() - cpu
        return End(verdict, reason, tuple(notes), cpu_s, wall_s, "in-process")


def play(
    entry: object,
    challenge: str,
    data: str | Path | Recording,
    *,
    out: str | Path | None = None,
    clock: Clock = "think",
    budget_s: float | None = None,
) -> Result:
    """Play an algorithm object on a data folder and score it by the challenge's rules.

    Parameters
    ----------
    entry : object
        Dialect D: has ``step(packet)``, ``run(packets)`` or ``predict(X)``.
    challenge : str
        ``imagery``, ``speller/1``, ..., or a contest folder.
    data : path or Recording
        A data folder with truth, or a recording from `open_recording` or `simulate`.
    out : path, optional
        A new folder to keep the run in.
    clock : "think" or "data"
        ``data`` leaves computing time out.
    budget_s : float, optional
        Seconds the run may take; otherwise as long as the data lasts. Over it, the verdict is ``over_budget``.

    Returns
    -------
    Result
        The content of score.json, a dict: ``score``, ``metrics``, ``trials``...

    Raises
    ------
    Exception
        Whatever the entry raised before the data ended, with its own traceback. ``out`` is kept all the same.
    BadInput
        When entry, challenge or data cannot be used.
    """
    name = entry.__name__ if isinstance(entry, type) else type(entry).__name__
    if isinstance(entry, type):
        raise BadInput(f"{name} is a class: give an object of it, play({name}(), ...)")
    if not any(hasattr(entry, verb) for verb in VERBS):
        raise BadInput(
            f"{name} has none of step(packet), run(packets), predict(X) or load_model(meta): nothing to play"
        )
    recording = data if isinstance(data, Recording) else open_recording(data)
    player = InProcess(entry)
    where = Path(out) if out else None
    result = run_match(find_rulebook(challenge), recording, player, out=where, clock=clock, budget_s=budget_s)
    if player.error is not None:
        raise player.error
    return result
