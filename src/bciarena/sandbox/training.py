"""Training in the box: the data readable, one folder writable, nothing else."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bciarena.contestant.training import NOTHING, REASON, REFUSED
from bciarena.contests import RULEBOOKS
from bciarena.contests.fitting import check_fits
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput, EntryFailed, Fault
from bciarena.match import entry_info
from bciarena.package import Interpreter, Package
from bciarena.plaintext import one_line, quoted
from bciarena.recording.folder import open_sets
from bciarena.recording.write import write_contest
from bciarena.sandbox import bwrap
from bciarena.sandbox.box import Box, Sandbox
from bciarena.sandbox.errand import run_errand, too_much, workplace
from bciarena.sandbox.limits import Limits
from bciarena.writing import whole_folder

PLENTY = Limits(memory_mib=16384, tmp_mib=1024, cores=0)
"""Training holds a whole set in memory, where a match holds a packet."""
MOST_MIB, MOST_RANKED_MIB = 4096, 512  # of a model; a site keeps that of every version of every entry
COPY_S = 600


class NothingToTrain(BadInput):
    """The entry has neither a train.py nor a class with fit."""


def can_train(package: Package) -> bool:
    """Whether there is anything to call: a train.py, or a class of the plain dialect."""
    own = any((package.root / name).is_file() for name in ("train.py", "train.pyc"))
    return own or package.dialect == "D"


def train_boxed(
    package: Package,
    interpreter: Interpreter,
    rulebook: Rulebook,
    data: Path,
    out: Path,
    *,
    sandbox: Sandbox = "bwrap",
    limits: Limits | None = None,
    budget_s: float = 86400.0,
    on_output: Callable[[bytes], None] = lambda raw: None,
    ranked: bool = False,
    secret: bool = False,
) -> list[str]:
    """Train an entry on a data folder; its model becomes the folder ``out``. Returns the names of its files.

    Raises EntryFailed when the entry fails, BadInput when it says that the data is unusable; ``out`` is then left
    as it was. ``secret``: its owner must not see the data, so nothing that it printed or said is passed on.
    """
    if not can_train(package):
        raise NothingToTrain(f"{package.name}: nothing to train: it has no train.py with train(data, out)")
    plain = not any((package.root / name).is_file() for name in ("train.py", "train.pyc"))
    check_fits(rulebook, open_sets(data), str(data), RULEBOOKS)
    with workplace("arena-train-") as place, _as_npz(_followed(data, place / "links"), plain, place) as shown:
        work = place / "model"
        work.mkdir()
        bounds = replace(limits or PLENTY, file_mib=1024)
        with Box(package, interpreter, sandbox, bounds, data=shown, out=work, ranked=ranked) as box:
            _run(box, rulebook, budget_s, on_output, data, shown, work, secret)
        return _bring_home(work, out)


def _run(
    box: Box,
    rulebook: Rulebook,
    budget_s: float,
    on_output: Callable[[bytes], None],
    data: Path,
    shown: Path,
    work: Path,
    secret: bool,
) -> None:
    """Train on ``shown``, which is ``data`` or made of it."""
    where = (str(bwrap.DATA), str(bwrap.OUT)) if box.sandbox == "bwrap" else (str(shown.resolve()), str(work))
    info = entry_info(rulebook) | {
        "truth": {str(code): text for code, text in rulebook.truth.items()},
        "idle": sorted(rulebook.idle),
    }
    order = {"train": {"data": where[0], "out": where[1]}, "info": info}
    most = MOST_RANKED_MIB if box.ranked else MOST_MIB
    done = run_errand(box, order, budget_s, what="training", on_output=on_output, measure=lambda: too_much(work, most))
    if done.code == NOTHING and not done.over:
        raise NothingToTrain(f"{box.package.name}: nothing to train: its class has no fit(recordings) and no fit(X, y)")
    if done.code == REFUSED and not done.over:
        if secret:
            raise EntryFailed("crashed", "training refused the data")
        raise BadInput(_refusal(work, where[0], data))
    said = f"; the last lines of its stderr:\n{quoted(done.tail)}" if done.tail and not secret else ""
    if done.over:
        raise EntryFailed(done.over[0], done.over[1] + said)
    if done.code:
        raise EntryFailed("crashed", f"training failed with exit code {done.code}{said}")


def _refusal(work: Path, shown: str, data: Path) -> str:
    """What the entry said about the data, with the folder's real name; quoted, since the words are not ours."""
    path = work / REASON
    if not path.is_file() or path.is_symlink():
        return f"{data}: the entry's training refused this data and did not say why"
    with open(path, encoding="utf-8", errors="replace") as file:
        words = file.read(1000).replace(shown, str(data))
    return f"{data}: the entry's training refused this data: {one_line(words, 500)!r}"


def _followed(data: Path, place: Path) -> Path:
    """The folder itself or, if it has links, one with the files they lead to: a box shows only the folder."""
    walked = list(os.walk(data, followlinks=False))
    if not any(os.path.islink(os.path.join(top, name)) for top, dirs, files in walked for name in dirs + files):
        return data
    seen = set()
    for top, folders, files in os.walk(data, followlinks=True):
        real = os.path.realpath(top)
        if real in seen:
            folders.clear()  # a link that leads back up
            continue
        seen.add(real)
        inside = place / os.path.relpath(top, data)
        inside.mkdir(parents=True, exist_ok=True)
        for name in files:
            source = os.path.realpath(os.path.join(top, name))
            try:
                os.link(source, inside / name)
            except OSError:  # on another disk, or hard links are not allowed
                shutil.copyfile(source, inside / name)
    return place


@contextmanager
def _as_npz(data: Path, needed: bool, place: Path) -> Iterator[Path]:
    """The data folder in a format that numpy alone reads: unchanged if it is one already, otherwise converted.

    Trials that must not be used are left out: their opening codes are removed.
    """
    sets = open_sets(data)
    blocks = [block for recording in sets.values() for _, _, block in recording]
    whole = not any(block.invalid for block in blocks)
    if whole and (not needed or all(_is_plain_npz(block.source) for block in blocks)):
        yield data
        return
    target = place / "data"
    for name, recording in sets.items():
        for subject in recording.subjects:
            for number, block in enumerate(subject.blocks, 1):
                path = target / name / subject.name / f"block_{number}.npz"
                write_contest(path, block.without_invalid().data, block.rate, block.channels)
    yield target


def _is_plain_npz(source: str) -> bool:
    import zipfile

    path = Path(source)
    if path.suffix != ".npz" or not path.is_file():
        return False
    with zipfile.ZipFile(path) as archive:
        return all(item.compress_type == zipfile.ZIP_STORED for item in archive.infolist())


def _bring_home(work: Path, out: Path) -> list[str]:
    """Copy plain files and folders to ``out``, which appears complete or not at all; nothing else is copied.

    The entry has ended by now, and ``too_much`` has limited their number, depth and size.
    """
    names = []
    until_s = time.monotonic() + COPY_S
    with whole_folder(out, force=True) as beside:
        for where, folders, files in os.walk(work):
            inside = Path(where).relative_to(work)
            for name in folders + files:
                source, target = Path(where) / name, beside / inside / name
                mode = os.lstat(source).st_mode
                if stat.S_ISDIR(mode):
                    target.mkdir()
                elif stat.S_ISREG(mode):
                    if time.monotonic() > until_s:
                        raise Fault(f"the model could not be copied within {COPY_S} s")
                    try:
                        shutil.copyfile(source, target)
                    except PermissionError as error:
                        if Path(error.filename or "").is_relative_to(work):
                            raise EntryFailed("crashed", "training left a file that cannot be read") from error
                        raise
                    names.append(one_line(str(inside / name), 300))
        if not names:
            raise EntryFailed("crashed", "training ended without writing anything")
    return sorted(names)
