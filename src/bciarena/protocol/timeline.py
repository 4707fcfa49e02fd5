"""An experiment as data: steps with onset, duration, kind, trigger code and parameters.

The simulator plays a timeline to a simulated brain, the stimulus pages play it to a person. Times are seconds from
the beginning of the block and fall on whole samples of the challenge's rate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal[
    "mark",  # a code alone
    "cue",  # what to do next is shown
    "imagine",  # params: limb
    "flicker",  # params: hz, phase_rad, key; others: the keys that flicker beside it
    "still",  # gaze at a key that does not flicker; params: key (None: no key)
    "flash",  # something lights up for a moment; params: item, relevance (0: ignored, 1: waited for)
    "idle",  # nothing to do, nothing flickers
    "feedback",
    "rest",
    "action",  # the robots move, the subject watches
    "eyes_open",
    "eyes_closed",
    "resting",  # a stretch of resting EEG; params: person, eyes, real
    "gap",  # between trials or parts of a session: nothing is shown
]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Step:
    """One thing that happens. ``code`` is on the sample of the onset; 0 is no code."""

    onset_s: float
    duration_s: float
    kind: Kind
    code: int = 0
    params: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    @property
    def end_s(self) -> float:
        return self.onset_s + self.duration_s

    def as_json(self) -> dict[str, Any]:
        own = {"onset_s": self.onset_s, "duration_s": self.duration_s, "kind": self.kind, "code": self.code}
        return own | {"params": dict(self.params)}


@dataclass(frozen=True)
class Timeline:
    """What happens in one block."""

    challenge: str
    split: str
    subject: int
    block: int
    rate: int
    samples: int
    steps: tuple[Step, ...]

    @property
    def duration_s(self) -> float:
        return self.samples / self.rate

    @property
    def events(self) -> tuple[tuple[int, int], ...]:
        """Every code as (sample, code), in order."""
        return tuple((self.at(step.onset_s), step.code) for step in self.steps if step.code)

    def at(self, time_s: float) -> int:
        """The sample of a time."""
        return round(time_s * self.rate)

    def of(self, *kinds: Kind) -> list[Step]:
        """The steps of some kinds, in order."""
        return [step for step in self.steps if step.kind in kinds]

    def trigger(self) -> NDArray[np.int64]:
        """The trigger row with truth, shape (samples,)."""
        row = np.zeros(self.samples, dtype=np.int64)
        for sample, code in self.events:
            if row[sample]:
                raise ValueError(f"codes {row[sample]} and {code} are both on sample {sample}")
            row[sample] = code
        return row

    def as_json(self) -> str:
        """The timeline as one JSON object, for a page or a file."""
        head = {
            "challenge": self.challenge, "split": self.split, "subject": self.subject, "block": self.block,
            "rate": self.rate, "duration_s": self.duration_s,
        }  # fmt: skip
        return json.dumps(head | {"steps": [step.as_json() for step in self.steps]})


class Script:
    """Collects steps one after another and keeps the clock, in whole samples.

    Parameters
    ----------
    rate : int
        Samples per second; every onset falls on a sample.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.now_n = 0
        self.steps: list[Step] = []

    def add(self, duration_s: float, kind: Kind, code: int = 0, **params: Any) -> None:
        """Append a step and move the clock to its end."""
        length_n = round(duration_s * self.rate)
        onset_s = self.now_n / self.rate
        self.steps.append(Step(onset_s, length_n / self.rate, kind, code, MappingProxyType(params)))
        self.now_n += length_n

    def linger(self, rng: np.random.Generator, packet_n: int) -> None:
        """Lengthen the last step by less than a packet: real trials begin anywhere within one."""
        more_n = int(rng.integers(packet_n))
        last = self.steps[-1]
        self.steps[-1] = replace(last, duration_s=(round(last.duration_s * self.rate) + more_n) / self.rate)
        self.now_n += more_n

    def mark(self, code: int, back_n: int = 0) -> None:
        """Put a code on the clock's sample, or ``back_n`` samples before it."""
        self.steps.append(Step((self.now_n - back_n) / self.rate, 0.0, "mark", code))

    def opening(self, session: int | None) -> None:
        """Begin a block: session code (where given), block code, then quiet."""
        if session is not None:
            self.mark(session)
            self.add(1.0, "rest")
        self.add(2.0, "rest", 242)

    def closing(self, rng: np.random.Generator, session: int | None) -> None:
        """End a block with its codes and a tail of unequal length (the text: the last packet's length varies)."""
        self.add(1.0, "rest", 243)
        if session is not None:
            self.mark(session)
        self.add(0.5 + rng.random(), "rest")

    def timeline(self, challenge: str, split: str, subject: int, block: int) -> Timeline:
        """What was collected."""
        return Timeline(challenge, split, subject, block, self.rate, self.now_n, tuple(self.steps))
