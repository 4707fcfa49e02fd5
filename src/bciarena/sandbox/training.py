"""Training in the box: the data readable, one folder writable, nothing else."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bciarena.contestant.training import REASON, REFUSED
from bciarena.contests.rulebook import Rulebook
from bciarena.entries.model import Interpreter, Package
from bciarena.errors import BadInput, EntryFailed, Fault
from bciarena.match import entry_info
from bciarena.recording.folder import open_sets
from bciarena.recording.write import write_contest
from bciarena.sandbox import bwrap
from bciarena.sandbox.box import Box, Sandbox
from bciarena.sandbox.limits import MIB, Limits
from bciarena.sandbox.output import clean, outputs
from bciarena.verdicts import Verdict
from bciarena.wire.host import Host

WATCH_S = 0.2
PLENTY = Limits(memory_mib=16384, tmp_mib=1024)  # training holds a whole set in memory, where a match holds a packet
MOST_MIB = 4096  # of a model
TAIL_LINES = 12


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
) -> list[str]:
    """Train an entry on a data folder; what it learnt becomes the folder ``out``. Gives the names of its files.

    Raises EntryFailed when the entry fails, BadInput when it says that the data is unusable; ``out`` is then left
    as it was.
    """
    if not can_train(package):
        raise BadInput(f"{package.name}: nothing to train: it has no train.py with train(data, out)")
    plain = not any((package.root / name).is_file() for name in ("train.py", "train.pyc"))
    with tempfile.TemporaryDirectory(prefix="arena-train-") as place, _as_npz(data, plain, Path(place)) as shown:
        work = Path(place) / "model"
        work.mkdir()
        with Box(package, interpreter, sandbox, limits or PLENTY, data=shown, out=work) as box:
            _run(box, rulebook, budget_s, on_output, shown, work)
        return _bring_home(work, out)


def _run(
    box: Box, rulebook: Rulebook, budget_s: float, on_output: Callable[[bytes], None], data: Path, work: Path
) -> None:
    where = (str(bwrap.DATA), str(bwrap.OUT)) if box.sandbox == "bwrap" else (str(data.resolve()), str(work))
    info = entry_info(rulebook) | {
        "truth": {str(code): text for code, text in rulebook.truth.items()},
        "idle": sorted(rulebook.idle),
    }
    host = Host(1, 1)
    order = {"train": {"data": where[0], "out": where[1]}, "info": info, "fds": host.box_fds}
    stdout, stderr = printed = outputs(None, box.limits.output_kib * 1024)
    try:
        box.start(order, budget_s, host.box_fds, stdout.write_fd, stderr.write_fd)
        host.started()
        for output in printed:
            output.started()
        began_s = time.monotonic()
        over = None
        while (code := box.ended()) is None and not over:
            time.sleep(0.02 if time.monotonic() - began_s < 2 else WATCH_S)
            for output in printed:
                on_output(output.drain(0))
            if not host.greeted:
                host.take_wakes()
            over = _over(box, budget_s, began_s, work)
        box.kill()
        for output in printed:
            on_output(output.drain(0))
        if not host.greeted:
            raise Fault(f"the box did not start (exit code {code}): {stderr.tail(3)}")
        if code == REFUSED and not over:
            raise BadInput(_refusal(work, where[0], data))
        _judge(box, code, over, stderr.tail(TAIL_LINES))
    finally:
        box.kill()
        host.close()
        for output in printed:
            output.close()


def _refusal(work: Path, shown: str, data: Path) -> str:
    """The entry's words about the data, with the folder's name out here."""
    path = work / REASON
    if not path.is_file() or path.is_symlink():
        return f"{data}: the entry's training refused this data and did not say why"
    with open(path, encoding="utf-8", errors="replace") as file:
        words = file.read(1000).replace(shown, str(data))
    return " ".join(clean(words).split())


def _over(box: Box, budget_s: float, began_s: float, work: Path) -> tuple[Verdict, str] | None:
    used = box.usage()
    if time.monotonic() - began_s > budget_s or used.cpu_s > budget_s:
        return "over_budget", f"training took longer than its budget of {budget_s:.0f} s"
    if words := box.over(used):
        return "out_of_memory", f"training {words}"
    if _size(work) > MOST_MIB * MIB:
        return "killed", f"training wrote more than {MOST_MIB} MiB"
    return None


def _size(folder: Path) -> int:
    total = 0
    for where, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(where, name)).st_size
            except FileNotFoundError:  # the entry is at work in there
                continue
    return total


def _judge(box: Box, code: int | None, over: tuple[Verdict, str] | None, tail: str) -> None:
    said = f"; the last lines of its stderr:\n{tail}" if tail else ""
    if box.group.out_of_memory():
        raise EntryFailed("out_of_memory", f"training used more than {box.limits.memory_mib} MiB of memory")
    if over:
        raise EntryFailed(over[0], over[1] + said)
    if code:
        raise EntryFailed("crashed", f"training failed with exit code {code}{said}")


@contextmanager
def _as_npz(data: Path, needed: bool, place: Path) -> Iterator[Path]:
    """The data folder in a form that numpy alone reads: as it is where it is one already, else converted."""
    sets = open_sets(data)
    blocks = [block for recording in sets.values() for _, _, block in recording]
    if not needed or all(_is_plain_npz(block.source) for block in blocks):
        yield data
        return
    target = place / "data"
    for name, recording in sets.items():
        for subject in recording.subjects:
            for number, block in enumerate(subject.blocks, 1):
                path = target / name / subject.name / f"block_{number}.npz"
                write_contest(path, block.data, block.rate, block.channels)
    yield target


def _is_plain_npz(source: str) -> bool:
    import zipfile

    path = Path(source)
    if path.suffix != ".npz" or not path.is_file():
        return False
    with zipfile.ZipFile(path) as archive:
        return all(item.compress_type == zipfile.ZIP_STORED for item in archive.infolist())


def _bring_home(work: Path, out: Path) -> list[str]:
    """Copy plain files and folders to ``out``, which appears whole or not at all; nothing else is taken."""
    beside = out.with_name(f".{out.name}.{os.getpid()}.part")
    shutil.rmtree(beside, ignore_errors=True)
    names = []
    try:
        beside.mkdir(parents=True)
        for where, folders, files in os.walk(work):
            inside = Path(where).relative_to(work)
            for name in folders + files:
                source, target = Path(where) / name, beside / inside / name
                mode = os.lstat(source).st_mode
                if stat.S_ISDIR(mode):
                    target.mkdir()
                elif stat.S_ISREG(mode):
                    shutil.copyfile(source, target)
                    names.append(str(inside / name))
        if not names:
            raise EntryFailed("crashed", "training ended without writing anything")
        if out.exists():
            shutil.rmtree(out)
        os.replace(beside, out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return sorted(names)
