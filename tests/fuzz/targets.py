"""Every reader of bytes from outside, as a function of bytes: it may return or refuse, and do nothing else.

A refusal is BadInput, EntryFailed or, on the wire, Malformed. Any other exception, and anything that takes longer than
a few seconds, is a find.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bciarena.entries.archive import unpack
from bciarena.entries.config import careful_yaml, read_config
from bciarena.entries.requirements import parse_lines, read_requirements
from bciarena.entries.sources import python_of, read_source
from bciarena.errors import BadInput, EntryFailed
from bciarena.recording import open_recording
from bciarena.recording.contest import read_block
from bciarena.runs.folder import RunFolder
from bciarena.sandbox.libraries import asked
from bciarena.service.spec import parse, read_toml
from bciarena.wire import page
from bciarena.wire.host import Host

REFUSALS = (BadInput, EntryFailed, page.Malformed)
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
Target = Callable[[bytes], object]
TARGETS: dict[str, Target] = {}


def target(read: Target) -> Target:
    def refusing(raw: bytes) -> None:
        try:
            read(raw)
        except REFUSALS:
            return

    TARGETS[read.__name__] = refusing
    return read


@contextmanager
def folder() -> Iterator[Path]:
    place = tempfile.mkdtemp(prefix="arena-fuzz-", dir=MEMORY)
    try:
        yield Path(place)
    finally:
        shutil.rmtree(place)


@contextmanager
def file(name: str, raw: bytes) -> Iterator[Path]:
    with folder() as place:
        path = place / name
        path.write_bytes(raw)
        yield path


@target
def block_pickle(raw: bytes) -> None:
    with file("block_1.pkl", raw) as path:
        read_block(path).events  # noqa: B018


@target
def block_npz(raw: bytes) -> None:
    with file("block_1.npz", raw) as path:
        read_block(path).events  # noqa: B018


@target
def block_mat(raw: bytes) -> None:
    with file("block_1.mat", raw) as path:
        read_block(path).events  # noqa: B018


@target
def bids_header(raw: bytes) -> None:
    """A BrainVision header, and after a NUL byte its table of events."""
    header, _, events = raw.partition(b"\0")
    with folder() as place:
        eeg = place / "sub-01" / "eeg"
        eeg.mkdir(parents=True)
        (place / "dataset_description.json").write_text('{"Name": "x", "BIDSVersion": "1.8.0"}')
        (eeg / "sub-01_task-x_run-1_eeg.vhdr").write_bytes(header)
        (eeg / "sub-01_task-x_run-1_eeg.eeg").write_bytes(bytes(4 * 2 * 50))
        (eeg / "sub-01_task-x_run-1_events.tsv").write_bytes(events)
        for _, _, block in open_recording(place):
            block.events  # noqa: B018


@target
def archive(raw: bytes) -> None:
    with file("upload", raw) as path:
        (path.parent / "out").mkdir()
        unpack(path, path.parent / "out")


@target
def entry_config(raw: bytes) -> None:
    """A configuration in each of its forms."""
    for name in ("config.toml", "config.json", "config.yml", "AlgorithmConfig.yml"):
        with file(name, raw) as path:
            read_config(path.parent)


@target
def entry_yaml(raw: bytes) -> None:
    careful_yaml(raw.decode("utf-8", "replace"), "config.yml")


@target
def requirements(raw: bytes) -> None:
    with file("requirements.txt", raw) as path:
        read_requirements(path, path.parent)
    parse_lines(raw.decode("utf-8", "replace").splitlines())


@target
def source(raw: bytes) -> None:
    with file("entry.py", raw) as path:
        read_source(path)
        python_of(path)


@target
def answer(raw: bytes) -> None:
    """The payload of a report."""
    page.unpack_value(raw)


@target
def wire(raw: bytes) -> None:
    """What a box may write into the shared page and the pipe: words, payload and wake-ups."""
    host = Host(2, 4)
    try:
        words = raw[: page.WORDS * 8].ljust(page.WORDS * 8, b"\0")
        host._map[: len(words)] = words
        payload = raw[len(words) : len(words) + page.LONGEST_ASK]
        host._map[page.ASKED_AT : page.ASKED_AT + len(payload)] = payload
        os.write(host.box_fds[2], raw[:64] or b"w")
        host.take_wakes()
        for read in (lambda: host.asked(1), host.text, host.value):
            read()
    finally:
        host.close()


@target
def ledger(raw: bytes) -> None:
    with file("ledger.jsonl", raw) as path:
        RunFolder(path.parent, lenient=True).ledger()
        RunFolder(path.parent).ledger()


@target
def contest_toml(raw: bytes) -> None:
    with file("contest.toml", raw) as path:
        read_toml(path)


@target
def contest_body(raw: bytes) -> None:
    """The API's body for a new contest: any JSON object."""
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        return
    if isinstance(values, dict):
        parse(values, "body")


@target
def elf(raw: bytes) -> None:
    """A compiled file of an environment, looked at for the libraries it asks for."""
    with file("module.so", raw) as path:
        asked(path)
