"""The liveness sets: resting EEG of a group of people cut into trials, and generated trials among them.

Calibration and evaluation of a group are two sittings of the same people on one day. Generated trials are
made by generators fitted on the calibration sitting, never on what is scored. What they learn and what is cut into real
trials passes the same first filter, and every trial passes the same last one with the same margins, so that no filter
artefact distinguishes them. There is no mains interference: no generator makes a steady line, so one would give the
real trials away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from bciarena.contests import rulebook
from bciarena.contests.liveness.rules import EYES_CLOSED, EYES_OPEN
from bciarena.protocol import Script, Timeline, split_of, stream, timelines
from bciarena.simulator.brain import Brain, Look, Made
from bciarena.simulator.eeg import Cap, Sitting
from bciarena.simulator.noise import Floats
from bciarena.simulator.person import draw_person, on_day

if TYPE_CHECKING:
    from bciarena.contests.liveness.generators import Generator
    from bciarena.simulator.make import Order, Summary

FIRST_HZ = 0.3
"""High-pass against drift, before anything is learnt or cut."""
BAND_HZ = (0.5, 45.0)
"""The last filter."""
SAME_DAY = 0.5
"""How far people drift between the sittings of calibration and evaluation, as a share of a day's drift."""
EYES = ("open", "closed")
MARGIN_S = 2.0
"""Cut off at both ends of a filtered run."""
MODEL_S = 60.0
"""Length of the calibration run, per person and state of the eyes, that the generators learn."""
Array = NDArray[np.float64]


class People(Protocol):
    """Whose EEG a set is made of: made-up people, or recorded ones."""

    def run(self, person: int, eyes: str, length_s: float) -> Array:
        """So much of a person's EEG for real trials, high-passed, shape (5, samples)."""
        ...

    def learnt_from(self, say: Callable[[str], None]) -> Mapping[int, list[Array]]:
        """By person the runs that generators learn, one for each of `EYES`; never what is scored."""
        ...

    def finish(self, eeg: Array) -> Array:
        """The last filter, the same for real and generated trials; ``MARGIN_S`` is cut off at both ends."""
        ...


def liveness_recordings(order: Order, summary: Summary | None, say: Callable[[str], None]) -> Iterator[Made]:
    """Every block as (1, timeline, EEG): all are under S01, because a block mixes people."""
    blocks = timelines(order.challenge, order.split, 1, order.seed, order.blocks, order.people)
    people = MadeUp(order)
    fake = None if order.split.startswith("cali") else Faker(people, order.split, order.seed, order.deep, say)
    if summary is not None and fake is not None:
        summary.notes += fake.notes
    yield from laid_out(blocks, Cutter(people, blocks), fake, [] if summary is None else summary.generated)


def laid_out(
    blocks: list[Timeline], cut: Cutter, fake: Faker | None, generated: list[dict[str, Any]]
) -> Iterator[Made]:
    """Every block with its trials in place; which generator made which trial is added to ``generated``."""
    for timeline in blocks:
        eeg = np.zeros((len(rulebook("liveness").channels), timeline.samples), dtype=np.float32)
        for number, step in enumerate(timeline.of("resting"), 1):
            span = slice(timeline.at(step.onset_s), timeline.at(step.end_s))
            person, eyes, length_n = step.params["person"], step.params["eyes"], span.stop - span.start
            if step.params["real"]:
                eeg[:, span] = cut.next(person, eyes, length_n)
            else:
                assert fake is not None  # calibration sets have no generated trials
                eeg[:, span], name = fake.next(person, eyes, length_n, timeline.block, number)
                generated.append({"subject": 1, "block": timeline.block, "trial": number, "generator": name})
        yield 1, timeline, eeg


def resting_run(
    seed: int, people: str, person: int, sitting: str, eyes: str, length_s: float, vary: bool = True
) -> Floats:
    """One person's resting EEG at the five channels, high-passed, shape (5, samples).

    Parameters
    ----------
    people : str
        The group.
    sitting : str
        Names the sitting; another name is another cap placement and another hour.
    eyes : str
        ``open`` or ``closed``.
    """
    today = on_day(draw_person(seed, people, person, vary), f"{people}-{sitting}", SAME_DAY if vary else 0.0)
    today = replace(today, traits=today.traits | {"mains_uv": 0.0})
    book = rulebook("liveness")
    script = Script(book.rate)
    script.add(length_s + 2 * MARGIN_S, "eyes_open" if eyes == "open" else "eyes_closed")
    rng = stream(seed, people, sitting, "resting", person, eyes)
    seat = Sitting(today, f"{people}-{sitting}" if vary else people, Cap(book.channels, "average"))
    eeg = seat.record(script.timeline("liveness/1", sitting, person, 1), rng)
    sections = scipy.signal.butter(2, FIRST_HZ, "highpass", fs=book.rate, output="sos")
    margin_n = round(MARGIN_S * book.rate)
    whole = scipy.signal.sosfiltfilt(sections, eeg.astype(np.float64), axis=1)
    kept: Floats = whole[:, margin_n : margin_n + round(length_s * book.rate)].astype(np.float32)
    return kept


def finished(eeg: NDArray[np.floating]) -> Array:
    """The zero-phase band-pass of every trial; ``MARGIN_S`` is cut off at both ends."""
    sections = scipy.signal.butter(4, BAND_HZ, "bandpass", fs=250, output="sos")
    margin_n = round(MARGIN_S * 250)
    filtered: Array = scipy.signal.sosfiltfilt(sections, eeg.astype(np.float64), axis=1)[:, margin_n:-margin_n]
    return filtered


class MadeUp:
    """Simulated people of an order's group."""

    def __init__(self, order: Order) -> None:
        self.order, self.group = order, split_of(order.challenge, order.split).people

    def run(self, person: int, eyes: str, length_s: float) -> Array:
        sitting = self.order.split.split("_")[0]
        return resting_run(self.order.seed, self.group, person, sitting, eyes, length_s).astype(np.float64)

    def learnt_from(self, say: Callable[[str], None]) -> Mapping[int, list[Array]]:
        real = {}
        for person in range(1, self.order.people + 1):
            say(f"recording person {person} of {self.order.people} for the generators")
            runs = [resting_run(self.order.seed, self.group, person, "cali", eyes, MODEL_S) for eyes in EYES]
            real[person] = [run.astype(np.float64) for run in runs]
        return real

    def finish(self, eeg: Array) -> Array:
        return finished(eeg)


def needed_n(blocks: list[Timeline]) -> dict[tuple[int, str], int]:
    """Samples of real EEG that a set needs of each person and state of the eyes."""
    needed: dict[tuple[int, str], int] = {}
    for timeline in blocks:
        for step in timeline.of("resting"):
            if step.params["real"]:
                key = step.params["person"], step.params["eyes"]
                needed[key] = needed.get(key, 0) + timeline.at(step.end_s) - timeline.at(step.onset_s)
    return needed


class Cutter:
    """Hands out stretches of each person's run, each sample once."""

    def __init__(self, people: People, blocks: list[Timeline]) -> None:
        self.people, self.needed = people, needed_n(blocks)
        self.runs: dict[tuple[int, str], Floats] = {}
        self.used: dict[tuple[int, str], int] = {}

    def next(self, person: int, eyes: str, length_n: int) -> Floats:
        key = person, eyes
        if key not in self.runs:
            run = self.people.run(person, eyes, self.needed[key] / 250 + 2 * MARGIN_S)
            self.runs[key] = self.people.finish(run).astype(np.float32)
            self.used[key] = 0
        first = self.used[key]
        self.used[key] = first + length_n
        return self.runs[key][:, first : first + length_n]


class Faker:
    """Generated trials: each by one of the set's generators in turn, from the person's calibration run."""

    def __init__(self, people: People, split: str, seed: int, deep: bool | None, say: Callable[[str], None]) -> None:
        from bciarena.contests.liveness.generators import generators_for

        self.people, self.split, self.seed, self.made = people, split, seed, 0
        real = people.learnt_from(say)
        generators, note = generators_for(split, deep, say)
        self.generators: list[tuple[str, Generator]] = []
        for name, generator in generators.items():
            say(f"training the {name} generator")
            self.generators.append((name, generator.fit(real)))
        self.notes = [f"generated by: {', '.join(generators)}"] + ([note] if note else [])

    def next(self, person: int, eyes: str, length_n: int, block: int, trial: int) -> tuple[Array, str]:
        name, generator = self.generators[self.made % len(self.generators)]
        self.made += 1
        rng = stream(self.seed, self.split, "generated", block, trial)
        wave = generator.sample(person, length_n / 250 + 2 * MARGIN_S, rng, run=EYES.index(eyes))
        return self.people.finish(wave), name


def state(code: int) -> str:
    """What a trial of a code shows."""
    return "eyes_closed" if code > EYES_CLOSED else "eyes_open" if code > EYES_OPEN else "generated"


BRAIN = Brain(recordings=liveness_recordings, look=Look(state=state, top_hz=38.0))
