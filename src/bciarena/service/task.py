"""What a contest asks, for its page: the timeline of a trial, and the score of an example by the contest's own code."""

from __future__ import annotations

from typing import Any, NamedTuple

from bciarena.contests import contest as find_contest
from bciarena.contests.rulebook import Rulebook
from bciarena.protocol import Step, protocol_of, timelines
from bciarena.service.refusals import Refused

TRIALS = 100
"""Trials of an example: a per cent is one of them."""
LONGEST_S = 60.0
USUAL_S = 2.0


class Knob(NamedTuple):
    """A number of the calculator. Shares are given in per cent."""

    name: str
    value: float
    least: float
    most: float
    step: float


def time_bounds(book: Rulebook) -> tuple[float, float]:
    """The shortest and the longest time an answer in time may take, in seconds."""
    packet_s = book.packet_n / book.rate
    most = LONGEST_S if book.limit_s is None else book.limit_s - packet_s
    return packet_s, most


def knobs(book: Rulebook, given: dict[str, str]) -> list[Knob]:
    """The numbers of the calculator, as asked or as usual; what cannot be is refused."""
    least, most = time_bounds(book)
    time_s = max(USUAL_S, book.floor_s) if most >= USUAL_S else most
    found = [
        Knob(name, _number(given, name, 100 * share, 0.0, 100.0), 0.0, 100.0, 1.0)
        for name, share in book.scoring.knobs.items()
    ]
    return [*found, Knob("time", _number(given, "time", time_s, least, most), least, most, 0.01)]


def _number(given: dict[str, str], name: str, usual: float, least: float, most: float) -> float:
    text = given.get(name, "").strip()
    if not text:
        return usual
    try:
        value = float(text)
    except ValueError:
        raise Refused(422, "refused.field", name=name) from None
    if not least - 1e-9 <= value <= most + 1e-9:  # also what is no number
        raise Refused(422, "refused.field", name=name)
    return value


def example(book: Rulebook, chosen: list[Knob]) -> tuple[float, dict[str, Any]]:
    """Score and metrics of a block of trials with these shares and this time, by the contest's own score."""
    *shares, time = chosen
    length_n = max(round(time.value * book.rate), round(book.floor_s * book.rate))
    trials = book.scoring.example(book, {one.name: one.value / 100 for one in shares}, length_n, TRIALS)
    made = book.score(trials)
    return made.score, made.metrics


class Trial(NamedTuple):
    """The steps of a typical trial; ``opened_s`` is when its opening code comes."""

    steps: list[Step]
    opened_s: float


def typical_trial(book: Rulebook) -> Trial | None:
    """A trial of the experiment from its cue to its end; None where the contest has no experiment."""
    if not find_contest(book).has("protocol.py"):
        return None
    steps = list(timelines(book.id, protocol_of(book).scored, 1, 1)[0].steps)
    asked = [at for at, step in enumerate(steps) if step.code in book.opens - book.idle]
    if not asked:
        return None
    at = asked[min(1, len(asked) - 1)]
    start = at - 1 if at and steps[at - 1].kind in ("cue", "gap") else at
    stop = at + 1
    while stop < len(steps) and steps[stop].kind not in ("cue", "gap") and steps[stop].code not in book.opens:
        stop += 1
    return Trial(steps[start:stop], steps[at].onset_s)
