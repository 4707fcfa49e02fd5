"""What an organiser lets entries learn: trained in the box before the run, or told after each trial.

A phase's setting is plain data (see `checked`) and goes into the match's payload as ``calibration``. An entry that can
learn (train.py, or a class with fit) is trained on the named sets within a budget of its own; the model is stored by
its digest and the run plays with it. It is trained once for the same package, sets and mode on a machine: submitting
again is no second throw of the dice. What training prints goes to nobody, since it has seen what stays hidden.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bciarena.errors import BadInput, EntryFailed
from bciarena.jobs.storage import Storage, split
from bciarena.recording import open_recording, write_contest
from bciarena.writing import whole_file

if TYPE_CHECKING:
    from bciarena.contests.rulebook import Rulebook
    from bciarena.entries.opened import Opened

MODES = ("none", "labelled", "unlabelled", "after_trial")
"""Nothing; sets with their labels; sets masked as the stream masks them; the truth of each trial once it is over."""
BUDGET_S = 3600.0
LIMITS = ("cores", "memory_mib")


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """A phase's setting with everything filled in; BadInput says what is wrong with it.

    Fields: ``mode`` (one of `MODES`), ``sets`` (name -> name in the storage), ``blocks`` (only the first so many of
    each subject, the prefix; None: all), ``budget_s`` (wall and CPU seconds of the training), ``limits`` (cores,
    memory_mib).
    """
    known: dict[str, Any] = {"mode": "none", "sets": {}, "blocks": None, "budget_s": BUDGET_S, "limits": {}}
    if unknown := sorted(set(given) - set(known)):
        raise BadInput(f"calibration: {unknown[0]}: no such setting; there are {', '.join(known)}")
    found = known | {name: value for name, value in given.items() if value is not None}
    mode, sets, blocks, limits = found["mode"], found["sets"], found["blocks"], found["limits"]
    if mode not in MODES:
        raise BadInput(f"calibration: mode {mode!r}: choose one of {', '.join(MODES)}")
    if not isinstance(sets, Mapping) or not all(isinstance(one, str) for pair in sets.items() for one in pair):
        raise BadInput("calibration: sets: give the name in the storage of each set, by its name")
    for name, stored in sets.items():
        if "/" in name or name.startswith("."):
            raise BadInput(f"calibration: sets: {name!r} is no name of a set")
        split(stored)
    if "" in sets and len(sets) > 1:
        raise BadInput("calibration: sets: one without a name must be alone")
    if mode in ("labelled", "unlabelled") and not sets:
        raise BadInput(f"calibration: mode {mode} needs sets to learn from")
    if mode == "none" and sets:
        raise BadInput("calibration: sets are given, but the mode is none")
    if blocks is not None and (not isinstance(blocks, int) or isinstance(blocks, bool) or blocks < 1):
        raise BadInput(f"calibration: blocks {blocks!r}: give 1 or more, or nothing for all")
    if (
        isinstance(found["budget_s"], bool)
        or not isinstance(found["budget_s"], int | float)
        or not found["budget_s"] > 0
    ):
        raise BadInput(f"calibration: budget_s {found['budget_s']!r}: give more than 0 seconds")
    if not isinstance(limits, Mapping) or not all(
        name in LIMITS and isinstance(value, int) and value > 0 for name, value in limits.items()
    ):
        raise BadInput(f"calibration: limits: give whole numbers above 0 for {' and '.join(LIMITS)}")
    return found | {"sets": dict(sets), "limits": dict(limits)}


def calibrated(
    entry: Opened, given: Mapping[str, Any] | None, storage: Storage, folder: Path, tell: Any
) -> tuple[Opened, dict[str, Any] | None]:
    """The entry with what it may learn, and what the run's record says about it; unchanged where the mode is none."""
    wanted = checked(given or {})
    if wanted["mode"] == "none":
        return entry, None
    said = {"mode": wanted["mode"], "sets": sorted(wanted["sets"]), "blocks": wanted["blocks"]}
    said |= {"fitted": False, "model": "", "train_s": 0.0}
    if not wanted["sets"]:
        return entry, said
    key = _key(entry, wanted)
    noted = storage.cache / "trained" / f"{key}.json"
    if not (known := _known(noted, storage)):
        tell({"stage": "training"})
        known = _train(entry, wanted, storage, folder)
        with whole_file(noted) as beside:
            beside.write_text(json.dumps(known), "utf-8")
    if known["model"]:
        entry = replace(entry, model=storage.fetch(known["model"]))
    return entry, said | known


def _key(entry: Opened, wanted: dict[str, Any]) -> str:
    """Names everything a model depends on but chance."""
    parts = [entry.package.digest, entry.package.target, entry.rulebook.digest, wanted["mode"] == "unlabelled"]
    return sha256(json.dumps([*parts, wanted["sets"], wanted["blocks"]], sort_keys=True).encode()).hexdigest()


def _known(noted: Path, storage: Storage) -> dict[str, Any] | None:
    try:
        known: dict[str, Any] = json.loads(noted.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return known if not known["model"] or storage.exists(known["model"]) else None


def _train(entry: Opened, wanted: dict[str, Any], storage: Storage, folder: Path) -> dict[str, Any]:
    from bciarena.sandbox.training import PLENTY, NothingToTrain

    data, model = folder / "calibration", folder / "calibrated"
    for name, stored in wanted["sets"].items():
        lay_out(entry.rulebook, storage.fetch(stored), data / name, wanted["mode"] == "unlabelled", wanted["blocks"])
    began_s = time.monotonic()
    try:
        entry.train(data, model, budget_s=wanted["budget_s"], limits=replace(PLENTY, **wanted["limits"]), secret=True)
    except NothingToTrain:
        return {"fitted": False, "model": "", "train_s": 0.0}
    except EntryFailed as failed:
        raise EntryFailed(failed.verdict, f"training: {failed.reason.removeprefix('training ')}") from failed
    took_s = round(time.monotonic() - began_s, 3)
    return {"fitted": True, "model": storage.put(model), "train_s": took_s}


def lay_out(book: Rulebook, source: Path, folder: Path, masked: bool, blocks: int | None) -> None:
    """A set as an entry may learn from it: its first blocks, and without labels where they stay secret."""
    for subject in open_recording(source).subjects:
        for number, block in enumerate(subject.blocks[:blocks], 1):
            data = block.without_invalid().data
            if masked:
                data[-1] = book.masked_trigger(np.asarray(data[-1], np.int64))
            write_contest(folder / subject.name / f"block_{number}.npz", data, block.rate, block.channels)
