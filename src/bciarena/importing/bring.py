"""The import itself: read, adapt, write, and report what was done."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.spans import trial_spans
from bciarena.errors import BadInput
from bciarena.importing.adapt import adapted
from bciarena.importing.meanings import meanings_of
from bciarena.importing.sources import pieces
from bciarena.recording.contest import read_block
from bciarena.recording.events import ENDING, Marks, events_text
from bciarena.recording.write import write_contest
from bciarena.writing import whole_folder


def bring_in(
    book: Rulebook,
    source: str,
    out: Path,
    *,
    events: dict[str, int] | None = None,
    subjects: tuple[int, ...] = (),
    splice: bool = False,
    idle: str | None = None,
    seed: int = 0,
    force: bool = False,
    names: dict[str, str] | None = None,
    keep_all: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Turn a source into a data folder of a challenge.

    Returns
    -------
    dict
        Subjects, blocks, trials and, per block, what was adapted; also written to ``import.json`` in the folder.
    """
    with whole_folder(out, force) as work:
        pool = _idle(book, idle) if idle else None
        report = _blocks(book, source, work, events or {}, subjects, splice, pool, seed, tell, names or {}, keep_all)
        (work / "import.json").write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return report


def _blocks(
    book: Rulebook, source: str, work: Path, events: dict[str, int], subjects: tuple[int, ...], splice: bool,
    pool: NDArray[np.float32] | None, seed: int, tell: Callable[[str], None], names: dict[str, str],
    keep_all: bool,
) -> dict[str, Any]:  # fmt: skip
    counts: dict[str, int] = defaultdict(int)
    rows: list[dict[str, Any]] = []
    for piece in pieces(source, subjects):
        tell(piece.source)
        if splice:  # what must not be used is not cut out either
            piece.codes = [(sample, code) for sample, code in piece.codes if sample not in piece.invalid]
            piece.invalid = {}
        data = adapted(book, piece, events, names, keep_all)
        if splice:
            own = meanings_of(book)
            if own.splice is None or own.idle is None:
                raise BadInput(f"--splice: {book.id} has no asynchronous stream of spliced epochs")
            rest = pool if pool is not None else own.idle(book, data)
            data, notes = own.splice(book, data, rest, seed + len(rows))
            piece.notes += notes
        counts[piece.subject] += 1
        path = work / piece.subject / f"block_{counts[piece.subject]}.npz"
        write_contest(path, data, book.rate, book.channels)
        if piece.invalid:
            table = events_text(read_block(path).events, book.rate, {}, Marks(book.opens, piece.invalid))
            path.with_name(path.stem + ENDING).write_text(table, "utf-8")
            piece.notes.append(f"{len(piece.invalid)} trials stay marked as not to be used")
        trials = len(trial_spans(book, read_block(path)))
        rows.append(
            {"file": str(path.relative_to(work)), "source": piece.source, "trials": trials, "adapted": piece.notes}
        )
    return {
        "challenge": book.id,
        "subjects": len(counts),
        "blocks": len(rows),
        "trials": sum(r["trials"] for r in rows),
        "files": rows,
    }


def _idle(book: Rulebook, source: str) -> NDArray[np.float32]:
    """All EEG of a source without flicker, end to end."""
    idle = meanings_of(book).idle
    if idle is None:
        raise BadInput(f"--idle: {book.id} has no use for idle EEG")
    found = []
    for piece in pieces(source):
        piece.marks = []
        found.append(idle(book, adapted(book, piece, {})))
    return np.concatenate(found, axis=1)
