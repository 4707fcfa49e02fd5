"""Small recordings with codes where a test wants them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bciarena.contests.rulebook import Rulebook
from bciarena.recording import Block, Recording, Subject, write_contest


def make_data(book: Rulebook, samples: int, codes: dict[int, int], seed: int = 0) -> np.ndarray:
    """(channels + 1, samples): the first channel counts samples, the others are noise, codes where asked."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((len(book.channels) + 1, samples)).astype(np.float32)
    data[0] = np.arange(samples)
    data[-1] = 0
    for sample, code in codes.items():
        data[-1, sample] = code
    return data


def make_block(book: Rulebook, samples: int, codes: dict[int, int]) -> Block:
    data = make_data(book, samples, codes)
    return Block(data[:-1], data[-1], book.rate, book.channels)


def make_recording(book: Rulebook, *subjects: list[tuple[int, dict[int, int]]]) -> Recording:
    """Each subject is a list of (samples, codes by sample)."""
    people = [
        Subject(f"S{k:02d}", tuple(make_block(book, samples, codes) for samples, codes in blocks))
        for k, blocks in enumerate(subjects, 1)
    ]
    return Recording(tuple(people))


def write_folder(
    book: Rulebook, folder: Path, *subjects: list[tuple[int, dict[int, int]]], ending: str = ".npz"
) -> Path:
    """The same as files of the contest layout."""
    for k, blocks in enumerate(subjects, 1):
        for b, (samples, codes) in enumerate(blocks, 1):
            path = folder / f"S{k:02d}" / f"block_{b}{ending}"
            write_contest(path, make_data(book, samples, codes), book.rate, book.channels)
    return folder


def report(subject: int, block: int, position: int, value, think_s: float = 0.0) -> dict:
    """A ledger line as the referee writes it."""
    return {"type": "report", "subject": subject, "block": block, "position": position, "packet": 0, "value": value,
            "think_s": think_s}  # fmt: skip
