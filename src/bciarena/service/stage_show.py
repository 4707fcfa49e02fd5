"""A run as a projector shows it: traces, answers, what they were worth, and the score after every trial.

Time is that of the recording: the blocks one after another. Whoever may see only what has been shown gets it cut off
at that moment, answers and truth of later trials included.
"""

from __future__ import annotations

import base64
import bisect
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests import contest as find_contest
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial
from bciarena.report.kept import KeptRun, open_run
from bciarena.report.replay import replay

WINDOW_S = 600.0  # what one request may ask for
STEPS = 200  # how often the score is computed, at most


@dataclass(frozen=True)
class Show:
    """A run on stage; times in seconds from the beginning of its first block.

    ``traces`` (channels, samples) are signed bytes at ``rate``. ``trials``: opened, over, number, truth, answer, mark,
    score after it. ``answers``: time, text, mark, number of the trial.
    """

    rulebook: str
    rate: int
    channels: tuple[str, ...]
    traces: NDArray[np.int8]
    blocks: tuple[tuple[float, int, int], ...]
    trials: tuple[tuple[float, float, int, str, str | None, str, float], ...]
    answers: tuple[tuple[float, str, str, int], ...]
    total_s: float
    score: float
    why: str = ""

    def cut(self, from_s: float, to_s: float, language: str) -> dict[str, Any]:
        """What happened in a span of time, for a page."""
        to_s = min(to_s, from_s + WINDOW_S, self.total_s)
        first, last = (math.floor(at * self.rate + 1e-6) for at in (from_s, max(to_s, from_s)))
        from_s = first / self.rate
        to_s = to_s if to_s == self.total_s else last / self.rate  # the next span begins exactly here
        names = find_contest(self.rulebook).answers(language)

        def named(text: str | None) -> str | None:
            return None if text is None else names.get(text, text)

        after = from_s if from_s > 0 else -1.0  # a span has its end, not its beginning: the first has both

        def within(at: float) -> bool:
            return after < at <= to_s

        return {
            "from_s": from_s,
            "to_s": to_s,
            "rate": self.rate,
            "channels": self.channels,
            "traces": base64.b64encode(np.ascontiguousarray(self.traces[:, first:last]).tobytes()).decode(),
            "samples": max(0, self.traces[:, first:last].shape[1]),
            "blocks": [list(one) for one in self.blocks if one[0] < to_s],
            "opened": [[one[0], one[2]] for one in self.trials if within(one[0])],
            "over": [
                [one[1], one[2], named(one[3]), named(one[4]), one[5], one[6]] for one in self.trials if within(one[1])
            ],
            "answers": [[at, named(text), mark, number] for at, text, mark, number in self.answers if within(at)],
            "total_s": self.total_s,
            "trials": len(self.trials),
            "why": self.why,
        }


def show(run: Path, data: Path) -> Show:
    """A stored run as a show; neither ever changes, so it is made once."""
    return _show(str(run), str(data))


@lru_cache(maxsize=16)
def _show(run: str, data: str) -> Show:
    kept = open_run(Path(run), Path(data))
    made, why = replay(kept)
    book = kept.book
    starts, total_s = [], 0.0
    for block in kept.layout:
        starts.append(total_s)
        total_s += block["samples"] / book.rate
    rate, channels = (made["rate"], tuple(made["channels"])) if made else (10, ())
    parts = [
        np.frombuffer(base64.b64decode(block["traces"]), np.int8).reshape(len(channels), -1)
        for block in (made["blocks"] if made else ())
    ]
    answers = []
    for start, block in zip(starts, made["blocks"] if made else (), strict=False):
        answers += [(start + at, str(text), mark, number) for at, text, mark, number in block["reports"]]
    return Show(
        book.id,
        rate,
        channels,
        np.concatenate(parts, axis=1) if parts else np.zeros((0, 0), np.int8),
        tuple((start, block["subject"], block["block"]) for start, block in zip(starts, kept.layout, strict=True)),
        tuple(_trials(kept, starts)),
        tuple(sorted(answers)),
        total_s,
        float(kept.score["score"]),
        why.get("en", ""),
    )


def _trials(run: KeptRun, starts: list[float]) -> list[tuple[float, float, int, str, str | None, str, float]]:
    """Every trial with its place in time and the score after it; the last one's is the run's own."""
    by_place = {(one.subject, one.block, one.trial): one for one in run.trials}
    found: list[tuple[float, float, Trial]] = []
    for start, block in zip(starts, run.layout, strict=True):
        for number, (opened, _, stop) in enumerate(block["trials"], 1):
            trial = by_place.get((block["subject"], block["block"], number))
            if trial is not None:
                found.append((start + opened / run.book.rate, start + stop / run.book.rate, trial))
    scores = _running(run.book, [trial for *_, trial in found])
    return [
        (begin, over, number, trial.truth, trial.answer, _mark(trial), score)
        for number, ((begin, over, trial), score) in enumerate(zip(found, scores, strict=True), 1)
    ]


def _running(book: Rulebook, trials: list[Trial]) -> list[float]:
    """The score after each trial, by the contest's own code; of long runs not after every single one."""
    every = max(1, len(trials) // STEPS)
    at = [number for number in range(1, len(trials) + 1) if number % every == 0 or number == len(trials)]
    known = [book.score([one for one in trials[:number] if one.status != "invalid"]).score for number in at]
    return [known[max(bisect.bisect_right(at, number) - 1, 0)] for number in range(1, len(trials) + 1)]


def _mark(trial: Trial) -> str:
    if trial.status in ("in_time", "after_target"):
        return "right" if trial.correct else "wrong"
    return trial.status
