"""A MOABB data set as a contest folder, with its recordings as a data folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.moabb.streams import block_of, rules_of
from bciarena.recording import write_contest
from bciarena.writing import refuse_existing, wanted_folder

PARADIGMS = ("MotorImagery", "SSVEP", "CVEP")
RULES = '''"""{title}, played pseudo-online: written from MOABB's description of the data set."""

from bciarena.moabb.rules import pseudo_rules

CLASSES = {classes!r}
"""The code of each class; 100 is the rest after a trial."""

RULEBOOK = pseudo_rules(
    {name!r},
    {title!r},
    channels={channels!r},
    rate={rate},
    classes=CLASSES,
    seconds={seconds!r},
)
'''


def find_dataset(name: str) -> Any:
    """A data set by the name of its class."""
    try:
        import moabb.datasets as shelf
        from moabb.datasets import fake
    except ImportError:
        raise BadInput("MOABB data sets need MOABB: pip install 'bciarena[moabb]'") from None
    maker = getattr(shelf, name, None) or getattr(fake, name, None)
    if maker is None:
        raise BadInput(f"MOABB has no data set {name!r}; see moabb.datasets")
    return maker()


def paradigm_of(dataset: Any) -> Any:
    """MOABB's usual paradigm of the data set, with all its classes."""
    import moabb.paradigms

    for name in PARADIGMS:
        found = getattr(moabb.paradigms, name)(n_classes=len(dataset.event_id))
        if found.is_valid(dataset):
            return found
    raise BadInput(f"{dataset.code}: its paradigm is {dataset.paradigm}; taken are those of {', '.join(PARADIGMS)}")


def write_folder(dataset: Any, folder: Path, data: Path | None, subjects: tuple[int, ...] = ()) -> Rulebook:
    """Write the contest folder and, where ``data`` is given, the recordings: a subject a folder, a run a block."""
    paradigm = paradigm_of(dataset)
    chosen = list(subjects) or dataset.subject_list[: None if data else 1]
    if not chosen:
        raise BadInput(f"{dataset.code}: has no subjects")
    refuse_existing(folder)  # before hours of downloads
    name = re.sub(r"[^a-z0-9]+", "-", type(dataset).__name__.lower()).strip("-")[:39] + "/1"
    blocks = _runs(dataset, chosen[0])
    book = rules_of(dataset, paradigm, blocks[0][1], name)
    if data is None:
        _write_rules(folder, book)
        return book
    with wanted_folder(data) as place:
        for number, subject in enumerate(chosen, 1):
            if number > 1:
                blocks = _runs(dataset, subject)
            for block, (source, raw) in enumerate(blocks, 1):
                made = block_of(raw, dataset, paradigm, book, source)
                write_contest(place / f"S{number:02d}" / f"block_{block}.npz", made.data, made.rate, made.channels)
        _write_rules(folder, book)
    return book


def _runs(dataset: Any, subject: Any) -> list[tuple[str, Any]]:
    try:
        sessions = dataset.get_data(subjects=[subject])[subject]
    except Exception as error:  # whatever a download raises
        raise BadInput(f"{dataset.code}: could not be obtained ({type(error).__name__}: {error})") from error
    return list(_flat(sessions))


def _flat(sessions: Any) -> Iterator[tuple[str, Any]]:
    for session, runs in sessions.items():
        for run, raw in runs.items():
            yield f"session {session} run {run}", raw


def _write_rules(folder: Path, book: Rulebook) -> None:
    classes = {int(code): text for code, text in book.vocabulary.items()}
    with wanted_folder(folder) as place:
        text = RULES.format(
            title=book.title,
            name=book.id,
            classes=classes,
            channels=book.channels,
            rate=book.rate,
            seconds=book.limit_s,
        )
        (place / "rules.py").write_text(text, "utf-8")
