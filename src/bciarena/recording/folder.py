"""A data folder: contest layout (S01/block_1.npz) or a BIDS-EEG data set. Everything reads both."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from bciarena.errors import BadInput
from bciarena.recording.bids import is_bids, read_bids
from bciarena.recording.contest import READERS, read_block
from bciarena.recording.model import Recording, Subject

KEY = ".digest_key"
"""A file beside recordings with hidden truth. Their digest stands in ledgers: without a key, whoever has the samples
could find the truth by trying what gives the same digest."""


def open_recording(folder: str | Path) -> Recording:
    """Open a data folder, or a folder that holds exactly one. Samples stay on disk until they are used.

    Subjects come in sorted folder order, blocks in numeric order of their file names (R17).
    """
    sets = open_sets(folder)
    if len(sets) > 1:
        raise BadInput(f"{folder}: holds several sets; name one of them: {', '.join(sets)}")
    key = Path(folder) / KEY
    return replace(next(iter(sets.values())), key=key.read_bytes() if key.is_file() else b"")


def _one(folder: Path) -> Recording:
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such data folder")
    if is_bids(folder):
        return Recording(read_bids(folder), folder)
    subjects = []
    for path in sorted(item for item in folder.iterdir() if item.is_dir()):
        files = sorted((f for f in path.iterdir() if f.suffix in READERS), key=_numeric)
        if not files:
            continue
        stems: dict[str, Path] = {}
        for file in files:
            if (one := stems.setdefault(file.stem, file)) != file:
                raise BadInput(f"{path}: block {one.stem} exists twice: {one.name} and {file.name}")
        subjects.append(Subject(path.name, tuple(read_block(file) for file in files)))
    if not subjects:
        raise BadInput(
            f"{folder}: no recordings in it; expected S01/block_1.npz (or .pkl, .mat) or a BIDS-EEG data set"
        )
    return Recording(tuple(subjects), folder)


def open_sets(folder: str | Path) -> dict[str, Recording]:
    """The named sets of a training folder, e.g. cali_train and eval_train; a plain data folder is the set ''."""
    folder = Path(folder)
    try:
        return {"": _one(folder)}
    except BadInput:
        if not folder.is_dir():
            raise
        sets = {}
        for path in sorted(item for item in folder.iterdir() if item.is_dir()):
            inside = [sub for sub in path.iterdir() if sub.is_dir()]
            if inside and (is_bids(path) or any(f.suffix in READERS for sub in inside for f in sub.iterdir())):
                sets[path.name] = _one(path)
        if not sets:
            raise
        return sets


def _numeric(path: Path) -> tuple[list[int], str]:
    return [int(number) for number in re.findall(r"\d+", path.stem)], path.name
