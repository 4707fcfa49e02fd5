"""Small recordings made from a rulebook alone: a minute, and the few that arena check plays.

It is no EEG to learn from, but it has what an entry reacts to: trials of every kind with the contest's timing, two
blocks, a short last packet, rhythms over the motor cortex and whatever the contest's example.py adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook
from bciarena.recording import Block, Recording, Subject

Array = NDArray[np.float64]
RHYTHM_HZ = 11.0
VISUAL = ("POz", "PO3", "PO4", "PO5", "PO6", "PO7", "PO8", "Oz", "O1", "O2")
USUAL_S = (2.0, 4.0, 2.0)
CLOSE_S = 0.3  # cue and rest of trials that are only there to begin at yet another sample
MOST_CLOSE = 100


@dataclass(frozen=True)
class Example:
    """What a contest's example.py offers as EXAMPLE.

    Attributes
    ----------
    seconds : tuple of float
        Of each trial: cue, task, rest.
    codes : sequence of sequence of int
        The opening codes of each block's trials.
    cue : int
        The code at the beginning of the cue; 0 for none.
    zeros : "nowhere", "in trials" or "outside tasks"
        Where samples are zero: nowhere, in a trial's cue and rest, or wherever no task is done.
    flicker : callable, optional
        Frequency and phase of what flickers in a trial of a code; None where nothing does.
    quiet : callable, optional
        The electrode under which the rhythm weakens in a trial of a code; None where it stays.
    """

    seconds: tuple[float, float, float] = USUAL_S
    codes: Sequence[Sequence[int]] = ()
    cue: int = 0
    zeros: Literal["nowhere", "in trials", "outside tasks"] = "nowhere"
    flicker: Callable[[int], tuple[float, float] | None] | None = None
    quiet: Callable[[int], str | None] | None = None


def example_of(book: Rulebook) -> Example:
    """The contest's own example, or one made from its rulebook."""
    codes = sorted(book.truth)
    spread = [codes[round(at)] for at in np.linspace(0, len(codes) - 1, 6)]
    cue_s, task_s, rest_s = USUAL_S
    usual = Example((cue_s, book.missing_s or book.limit_s or task_s, rest_s), (spread[:3], spread[3:]))
    return contest(book).part("example", Example, usual)


def tiny_recording(book: Rulebook) -> Recording:
    """The blocks of the contest's example, always the same."""
    rng, example = np.random.default_rng(5), example_of(book)
    # As in real recordings trials begin anywhere in a packet, each at another sample of it.
    places = iter(np.linspace(0, book.packet_n - 1, sum(map(len, example.codes))).astype(int).tolist())
    blocks = tuple(_block(book, example, list(codes), places, rng) for codes in example.codes)
    return Recording((Subject("S01", blocks),))


def strict_recording(book: Rulebook) -> Recording:
    """What arena check plays: two subjects, one of them with a block that is shorter than a packet.

    Trials begin at every sample of a packet: where the example's own trials are too few for that, a further block has
    the rest of them, of full length but close together. Every block ends in half a packet.
    """
    rng, example = np.random.default_rng(6), example_of(book)
    codes = [list(own) for own in example.codes]
    plan = [*codes, *(own[::-1] for own in codes)]
    count, packet_n = sum(map(len, plan)), book.packet_n
    spread = np.arange(count) % packet_n if count >= packet_n else np.linspace(0, packet_n - 1, count).astype(int)
    places = iter(spread.tolist())
    blocks = [_block(book, example, own, places, rng) for own in plan]
    rest = sorted(set(range(packet_n)) - set(spread.tolist()))
    rest = rest[:: -(-len(rest) // MOST_CLOSE) or 1]
    if rest:
        cue_s, task_s, rest_s = example.seconds
        packet_s = packet_n / book.rate
        cue_s -= max(0, int((cue_s - CLOSE_S) / packet_s)) * packet_s  # by whole packets: the places stay as they are
        close = replace(example, seconds=(cue_s, task_s, min(rest_s, CLOSE_S)))
        every = [code for own in plan for code in own]
        more = [every[number % len(every)] for number in range(len(rest))]
        blocks.append(_block(book, close, more, iter(rest), rng))
    half = len(codes)
    short = _short_block(book, codes[0][0], rng)
    return Recording((Subject("S01", (*blocks[:1], short, *blocks[1:half])), Subject("S02", tuple(blocks[half:]))))


def _short_block(book: Rulebook, code: int, rng: np.random.Generator) -> Block:
    """A recording that broke off at once: its trial has no packet of its own, so nothing can be answered (R15)."""
    samples = book.packet_n - 2
    trigger = np.zeros(samples)
    trigger[[0, 2, samples - 2, samples - 1]] = 242, code, 241, 243
    eeg = 8.0 * rng.standard_normal((len(book.channels), samples))
    return Block(eeg.astype(np.float32), trigger, book.rate, book.channels, "arena check, a short block")


def _block(
    book: Rulebook, example: Example, codes: list[int], places: Iterator[int], rng: np.random.Generator
) -> Block:
    cue_n, task_n, rest_n = (round(part * book.rate) for part in example.seconds)
    lead_n, trial_n = book.rate, -(-(cue_n + task_n + rest_n) // book.packet_n) * book.packet_n
    samples = lead_n + len(codes) * trial_n + book.packet_n + book.rate
    samples += (book.packet_n // 2 - samples) % book.packet_n  # the last packet is half a packet
    eeg = 8.0 * rng.standard_normal((len(book.channels), samples))
    eeg = np.cumsum(eeg, axis=1) * 0.2 + eeg * 0.3
    eeg -= np.linspace(eeg[:, :1], eeg[:, -1:], samples, axis=1)[..., 0]
    rhythm = 6.0 * np.sin(2 * np.pi * RHYTHM_HZ * np.arange(samples) / book.rate)
    motor = [row for row, name in enumerate(book.channels) if name in ("C3", "C4", "Cz")]
    eeg[motor] += rhythm
    trigger = np.zeros(samples)
    trigger[1], trigger[samples - 2] = 242, 243
    starts = [lead_n + number * trial_n + next(places) for number in range(len(codes))]
    zero = np.full(samples, example.zeros == "outside tasks")
    if example.zeros == "in trials":
        zero[starts[0] : starts[-1] + trial_n] = True
    for start, code in zip(starts, codes, strict=True):
        task = slice(start + cue_n, start + cue_n + task_n)
        if example.cue:
            trigger[start] = example.cue
        trigger[task.start], trigger[task.stop - 1] = code, 241
        zero[task] = False
        _add_brain(book, example, code, eeg[:, task], rhythm[task])
    eeg[:, zero] = 0
    return Block(eeg.astype(np.float32), trigger, book.rate, book.channels, "arena check")


def _add_brain(book: Rulebook, example: Example, code: int, eeg: Array, rhythm: Array) -> None:
    """What a task adds to a trial, shape (channels, samples), or takes away."""
    t = np.arange(eeg.shape[1]) / book.rate
    shown = example.flicker(code) if example.flicker else None
    if shown is not None:
        rows = [row for row, name in enumerate(book.channels) if name in VISUAL]
        for harmonic, uv in ((1, 5.0), (2, 3.0), (3, 1.5)):
            eeg[rows] += uv * np.sin(harmonic * (2 * np.pi * shown[0] * t + shown[1]))
    under = example.quiet(code) if example.quiet else None
    if under in book.channels:
        eeg[book.channels.index(str(under))] -= 0.8 * rhythm
