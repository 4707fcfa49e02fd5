"""Every reader of bytes from outside, as a function of bytes: it may return or refuse, and do nothing else.

A refusal is BadInput, EntryFailed or, on the wire, Malformed. Any other exception, and anything that takes longer than
a few seconds, is a find.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bciarena.entries.archive import unpack
from bciarena.entries.config import careful_yaml, read_config
from bciarena.entries.requirements import parse_lines, read_requirements
from bciarena.entries.sources import python_of, read_source
from bciarena.errors import BadInput, EntryFailed, Fault
from bciarena.recording import open_recording
from bciarena.recording.contest import read_block
from bciarena.runs.folder import RunFolder
from bciarena.sandbox.libraries import asked
from bciarena.service.spec import parse, read_toml
from bciarena.session.plan import read_plan
from bciarena.wire import page
from bciarena.wire.host import Host

REFUSALS = (BadInput, EntryFailed, page.Malformed)
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
Target = Callable[[bytes], object]
TARGETS: dict[str, Target] = {}
COSTLY = {
    "wire": 4,
    "block_mat": 4,
    "bids_header": 8,
    "entry_config": 4,
    "archive": 4,
    "contest_toml": 4,
    "block_npz": 4,
    "raw_recording": 4,
    "session_plan": 8,
    "dat_and_yaml": 8,
    "recording_file": 12,
    "http_request": 12,
}
"""How many times fewer inputs a target gets whose readers make files and pipes for each, or a whole site."""


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
def session_plan(raw: bytes) -> None:
    with file("plan.toml", raw) as path:
        read_plan(path)


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


def request_of(raw: bytes, token: str) -> tuple[dict[str, object], bytes]:
    """A request as a server hands it to an application, made of bytes: a line, headers, an empty line, a body."""
    head, _, body = raw.replace(b"TOKEN", token.encode()).partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, target = first.partition(b" ")
    target = bytes(one for one in target if 0x20 < one < 0x7F)  # a server passes on no others
    path, _, query = target.partition(b"?")
    pairs = [line.partition(b":") for line in lines]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": method.decode("latin-1").upper() or "GET", "path": unquote(b"/" + path.lstrip(b"/")),
        "raw_path": path, "query_string": query, "client": ("127.0.0.1", 9), "server": ("127.0.0.1", 80),
        "headers": [(name.strip().lower(), value.strip()) for name, _, value in pairs],
    }  # fmt: skip
    return scope, body


@cache
def site() -> tuple[Any, str]:
    """A whole site in a folder of this process, with an operator's token."""
    from bciarena.service import accounts
    from bciarena.service.app import create_app
    from bciarena.service.settings import Settings
    from bciarena.service.site import Site

    home = Path(tempfile.mkdtemp(prefix="arena-fuzz-", dir=MEMORY))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    logging.getLogger("bciarena.service").setLevel(logging.CRITICAL)
    settings = Settings.at(home / "home", f"sqlite:///{home / 'arena.db'}", data_roots=(home,))
    town = Site(settings)
    with town.session(writes=True) as session:
        root = accounts.sign_up(session, "root", "correct horse battery", role="operator")
        token = accounts.make_token(session, root, "fuzz", "organise")
    return create_app(settings, town), token


@target
def http_request(raw: bytes) -> None:
    """Method, address, headers and body of a call, as an operator and as whoever the bytes say: never our fault."""
    app, token = site()
    scope, body = request_of(raw, token)
    waiting, said = [{"type": "http.request", "body": body}], []

    async def receive() -> dict[str, object]:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    asyncio.run(app(scope, receive, send))
    assert said[0]["status"] not in (500, 501, 502), (scope, body)


@cache
def timeline() -> Any:
    from bciarena.protocol import Screening, screened

    return screened("speller", Screening(None, 1, 1, 0, {"word": "A"}))


@target
def lab_messages(raw: bytes) -> None:
    """What pages send to the lab, a message a line."""
    from bciarena.lab.app import heard
    from bciarena.lab.hub import Hub

    hub = Hub(timeline(), send_code=lambda code, at_s: None)
    told: list[str] = []
    for role in ("stimulus", "operator", "watcher"):
        hub.join(role, lambda message: told.append(json.dumps(message)))
        for line in raw.decode("utf-8", "replace").splitlines()[:20]:
            heard(hub, line, role, hub.lines[role][-1])


@target
def raw_recording(raw: bytes) -> None:
    """What the live recorder left behind, read again by rescue."""
    from bciarena.live.recorder import RAW, rescue

    with file("raw.json", raw) as path:
        (path.parent / RAW).write_bytes(bytes(range(256)) * 9)
        rescue(path.parent)


@target
def lsl_header(raw: bytes) -> None:
    """A stream's description as it comes over the network."""
    from mne_lsl.lsl.load_liblsl import lib
    from mne_lsl.lsl.stream_info import _BaseStreamInfo

    from bciarena.contests import rulebook
    from bciarena.live.amplifier import Amplifier, Wiring
    from bciarena.live.streams import header_of

    lib.lsl_streaminfo_from_xml.restype = ctypes.c_void_p
    made = lib.lsl_streaminfo_from_xml(ctypes.c_char_p(raw.replace(b"\0", b"")))
    if made:
        said, count, rate = header_of(lambda: _BaseStreamInfo(made), "subject")
        Amplifier(rulebook("imagery"), Wiring(), "subject", *said, count, rate, lambda words: None).described(count)


@target
def recording_file(raw: bytes) -> None:
    """A recording in one of the formats that MNE and pyxdf read: its ending, a NUL byte, its content."""
    from bciarena.importing.sources import MNE_ENDINGS, pieces
    from bciarena.recording import apart

    apart.LEAST_S = 5.0  # MNE's reader of fif files goes round in circles on some damaged ones
    ending, _, content = raw.partition(b"\0")
    name = ending.decode("ascii", "replace")
    with file(f"recording{name if name in MNE_ENDINGS else '.edf'}", content) as path:
        logging.disable(logging.ERROR)
        try:
            list(pieces(str(path)))
        finally:
            logging.disable(logging.NOTSET)


@target
def dat_and_yaml(raw: bytes) -> None:
    """The contests' .dat files: their description, brought into a challenge's form."""
    from bciarena.contests import rulebook
    from bciarena.importing.adapt import adapted
    from bciarena.importing.sources import pieces

    with file("recording.yaml", raw) as path:
        path.with_suffix(".dat").write_bytes(bytes(4 * 3 * 40))
        for piece in pieces(str(path.with_suffix(".dat"))):
            adapted(rulebook("imagery"), piece, {})


@target
def index_page(raw: bytes) -> None:
    """A package index's list of files, as HTML and as JSON."""
    from bciarena.entries.index import read_page

    for kind in ("text/html", "application/json"):
        try:
            read_page(raw, kind, "https://index/simple/numpy/", "numpy")
        except Fault:
            continue
