"""A simulated subject in real time: what is seen changes the EEG that is still to come.

Ongoing activity is made some seconds ahead. A step that begins on the screen adds its evoked response to the sources
and changes the gain of the rhythms from that moment on; a response needs 0.1 s and more to reach the scalp, which is
more than a message from the page takes.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from bciarena.contests import rulebook
from bciarena.protocol.seeds import stream
from bciarena.protocol.timeline import Step, Timeline
from bciarena.simulator import artefacts, background, evoked, rhythms
from bciarena.simulator.brain import brain_of
from bciarena.simulator.eeg import HEART_UV, Cap, Sitting
from bciarena.simulator.electrode import electrode_noise
from bciarena.simulator.noise import Floats
from bciarena.simulator.person import draw_person, on_day

PIECE_S = 12.0
FADE_S = 0.25
TAIL_S = 2.5  # how long a step may still act after its end


class LiveBrain:
    """EEG of one person, taken sample by sample.

    Parameters
    ----------
    subject, seed : int
        The same numbers give the same person as ``arena simulate`` does.
    """

    def __init__(self, challenge: str, subject: int = 1, seed: int = 0) -> None:
        self.book = rulebook(challenge)
        self.rate = self.book.rate
        brain = brain_of(self.book)
        usual = draw_person(seed, "people", subject, patients=brain.patients)
        self.person = on_day(usual, f"{self.book.name}-live")
        self.sitting = Sitting(self.person, "live", Cap(self.book.channels, brain.reference))
        self.rng = stream(seed, "live", self.book.name, subject)
        # Pieces are made in a separate thread: a separate generator keeps the person repeatable.
        self._ongoing = stream(seed, "live ongoing", self.book.name, subject)
        self.taken_n = 0  # samples handed out so far
        self._maker = ThreadPoolExecutor(1)
        self._piece_n = round(PIECE_S * self.rate)
        self._fade_n = round(FADE_S * self.rate)
        self._first_n = 0
        self._steps: list[tuple[int, Step]] = []
        self._kept: dict[int, tuple[Floats, Floats]] = {}
        self._rest, self._rhythm = self._make()
        self._next: Future[tuple[Floats, Floats]] = self._maker.submit(self._make)

    def _make(self) -> tuple[Floats, Floats]:
        """A piece of ongoing activity: what reaches the channels directly, and the rhythms' sources."""
        samples = self._piece_n + self._fade_n
        idle = Timeline(self.book.id, "live", 1, 1, self.rate, samples, (Step(0.0, samples / self.rate, "rest"),))
        person, sitting = self.person, self.sitting
        rest = electrode_noise(person, "live", len(self.book.channels), samples, self.rate, self._ongoing)
        other = artefacts.artefacts(person, idle, self._ongoing)
        rest[sitting.scalp] += sitting.sources[:, -len(other) :] @ other
        rest[sitting.scalp] += background.background(person, sitting.patches, samples, self.rate, self._ongoing)
        if "ECG" in self.book.channels:
            rest[self.book.channels.index("ECG")] += HEART_UV * other[-1] / artefacts.HEART_LEAK_UV
        return rest, rhythms.rhythms(person, idle, self._ongoing)

    def see(self, step: Step, onset_n: int) -> None:
        """A step appeared on the screen at a sample of this stream (counted like ``taken_n``)."""
        self._steps.append((onset_n, replace(step, onset_s=0.0)))
        self._steps = [(at, s) for at, s in self._steps if at + self._reach_n(s) > self.taken_n]

    def _reach_n(self, step: Step) -> int:
        return round((step.duration_s + TAIL_S) * self.rate)

    def take(self, n: int) -> Floats:
        """The next samples, shape (channels, n), in microvolts."""
        parts = []
        while n > 0:
            left = self._first_n + self._piece_n - self.taken_n
            if left <= 0:
                self._turn_over()
                continue
            count = min(n, left)
            parts.append(self._some(count))
            self.taken_n += count
            n -= count
        return np.concatenate(parts, axis=1)

    def _turn_over(self) -> None:
        """Continue with the next piece, cross-faded from the end of the last one."""
        rest, rhythm = self._next.result()
        ease = (0.5 - 0.5 * np.cos(np.pi * (np.arange(self._fade_n) + 0.5) / self._fade_n)).astype(np.float32)
        for new, old in ((rest, self._rest), (rhythm, self._rhythm)):
            new[:, : self._fade_n] = old[:, self._piece_n :] * (1 - ease) + new[:, : self._fade_n] * ease
        self._first_n += self._piece_n
        self._rest, self._rhythm = rest, rhythm
        self._next = self._maker.submit(self._make)

    def _some(self, n: int) -> Floats:
        start = self.taken_n - self._first_n
        made = self._rest[:, start : start + n].copy()
        rhythm = self._rhythm[:, start : start + n].copy()
        seen = np.zeros((len(evoked.ROWS), n), np.float32)
        for onset_n, step in self._steps:
            courses = self._courses(onset_n, step)
            for target, course, how in ((rhythm, courses[0], np.multiply), (seen, courses[1], np.add)):
                low = max(self.taken_n, onset_n)
                high = min(self.taken_n + n, onset_n + course.shape[1])
                if low < high:
                    span = slice(low - self.taken_n, high - self.taken_n)
                    target[:, span] = how(target[:, span], course[:, low - onset_n : high - onset_n])
        sources = self.sitting.sources
        split = len(rhythms.SOURCES)
        made[self.sitting.scalp] += sources[:, :split] @ rhythm
        made[self.sitting.scalp] += sources[:, split : split + len(evoked.ROWS)] @ seen
        return made

    def _courses(self, onset_n: int, step: Step) -> tuple[Floats, Floats]:
        """Gain of the rhythms and evoked courses of one step, from its onset; made once and kept with the step."""
        kept = self._kept
        if onset_n not in kept:
            samples = self._reach_n(step)
            seen = Timeline(self.book.id, "live", 1, 1, self.rate, samples, (step,))
            blank = replace(seen, steps=(Step(0.0, samples / self.rate, "rest"),))
            seed = int(self.rng.integers(1 << 31))
            with_it = rhythms.gains(self.person, seen, np.random.default_rng(seed))
            without = rhythms.gains(self.person, blank, np.random.default_rng(seed))
            kept[onset_n] = (with_it / without, evoked.evoked(self.person, seen, self.rng))
            for old in [at for at in kept if at + 30 * self.rate < self.taken_n]:
                del kept[old]
        return kept[onset_n]

    def close(self) -> None:
        self._maker.shutdown(cancel_futures=True)


def step_from(message: dict[str, Any]) -> Step:
    """A step as the lab's page tells it."""
    told = message["step"]
    return Step(0.0, float(told["duration_s"]), told["kind"], int(told["code"]), dict(told["params"]))
