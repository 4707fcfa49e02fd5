"""A recording of a minute, made from a rulebook alone: what arena check plays.

It is no EEG to learn from, but it has what an entry reacts to: trials of every kind with the contest's timing, two
blocks, a short last packet, rhythms over the motor cortex and flicker over the visual cortex.
"""

from __future__ import annotations

import numpy as np

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.speller.rules import FREQUENCY_HZ, PHASE_RAD
from bciarena.contests.turing.rules import BEHAVIOURS, SSVEP_HZ
from bciarena.recording import Block, Recording, Subject

SECONDS = {
    "turing": (3.0, 5.0, 5.0),
    "imagery": (2.0, 4.0, 2.0),
    "speller": (1.0, 4.0, 3.0),
    "liveness": (0.0, 6.0, 1.5),
    "rehab": (3.0, 4.0, 1.5),
}
"""Of each trial: cue, task, rest."""
CODES = {
    "turing": ([1 << 3 | 1, 4 << 3 | 4, 5 << 3 | 5], [7 << 3 | 2, 6 << 3 | 6, 1 << 3 | 7]),
    "imagery": ([201, 203, 202], [202, 201, 203]),
    "speller": ([7, 110, 24], [38, 13, 101]),
    "liveness": ([129, 2, 195], [3, 204, 133]),
    "rehab": ([1, 3, 1], [4, 2, 4]),
}
"""The trials of the two blocks."""
RHYTHM_HZ = 11.0
VISUAL = ("POz", "PO3", "PO4", "PO5", "PO6", "PO7", "PO8", "Oz", "O1", "O2")
QUIET_UNDER = {"201": "C4", "202": "C3", "203": "Cz", "1": "C4", "2": "C3", "3": "C4", "4": "C3"}
"""Under which electrode the rhythm weakens during imagery."""


def tiny_recording(book: Rulebook) -> Recording:
    """Two blocks of three trials, always the same."""
    rng = np.random.default_rng(5)
    blocks = tuple(_block(book, list(codes), rng) for codes in CODES[book.name])
    return Recording((Subject("S01", blocks),))


def _block(book: Rulebook, codes: list[int], rng: np.random.Generator) -> Block:
    cue_n, task_n, rest_n = (int(part * book.rate) for part in SECONDS[book.name])
    lead_n, trial_n = book.rate, cue_n + task_n + rest_n
    samples = lead_n + len(codes) * trial_n + book.rate
    samples += (book.packet_n // 2 - samples) % book.packet_n  # the last packet is half a packet
    eeg = 8.0 * rng.standard_normal((len(book.channels), samples))
    eeg = np.cumsum(eeg, axis=1) * 0.2 + eeg * 0.3
    eeg -= np.linspace(eeg[:, :1], eeg[:, -1:], samples, axis=1)[..., 0]
    rhythm = 6.0 * np.sin(2 * np.pi * RHYTHM_HZ * np.arange(samples) / book.rate)
    motor = [row for row, name in enumerate(book.channels) if name in ("C3", "C4", "Cz")]
    eeg[motor] += rhythm
    trigger = np.zeros(samples)
    trigger[1], trigger[samples - 2] = 242, 243
    keep = np.zeros(samples, dtype=bool)
    for number, code in enumerate(codes):
        start = lead_n + number * trial_n
        task = slice(start + cue_n, start + cue_n + task_n)
        if book.name in ("turing", "imagery", "rehab"):
            trigger[start] = 240
        trigger[task.start], trigger[task.stop - 1] = code, 241
        keep[task] = True
        _add_brain(book, code, eeg[:, task], rhythm[task])
    if book.name in ("liveness", "rehab"):
        eeg[:, ~keep] = 0
    return Block(eeg.astype(np.float32), trigger, book.rate, book.channels, "arena check")


def _add_brain(book: Rulebook, code: int, eeg: np.ndarray, rhythm: np.ndarray) -> None:
    """What a task adds to a trial, shape (channels, samples), or takes away."""
    t = np.arange(eeg.shape[1]) / book.rate
    hertz, phase = 0.0, 0.0
    if book.name == "speller" and code <= len(FREQUENCY_HZ):
        hertz, phase = FREQUENCY_HZ[code - 1], PHASE_RAD[code - 1]
    if book.name == "turing":
        assert code >> 3 in BEHAVIOURS
        hertz = SSVEP_HZ.get(code & 7, 0.0)
    if hertz:
        rows = [row for row, name in enumerate(book.channels) if name in VISUAL]
        for harmonic, uv in ((1, 5.0), (2, 3.0), (3, 1.5)):
            eeg[rows] += uv * np.sin(harmonic * (2 * np.pi * hertz * t + phase))
    under = {1: "C4", 2: "C3"}.get(code & 7) if book.name == "turing" else QUIET_UNDER.get(book.truth[code])
    if under and book.name != "speller":
        eeg[book.channels.index(under)] -= 0.8 * rhythm
