"""Every entry and peer on the same recordings under the same rules.

An entry gets the training folder and nothing else; test folders are opened only by the referee.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bciarena.bench.kept import HOME, KeptRows, code_digest, data_digest, key_of
from bciarena.bench.peers import PEERS
from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.inprocess import in_process
from bciarena.match import Player, Progress
from bciarena.recording import Recording, open_recording, open_sets
from bciarena.report.statistics import intervals
from bciarena.runs import RunFolder, run_match

FRESH_SEED = 61_847
"""Seed of the simulated people. Nobody tuned on it; whoever has looked at single trials of it must choose another."""
PEOPLE = {"imagery": 4, "turing": 2, "speller": 2, "rehab": 3}
SLOW = "MetaBCI"
"""Peers of this name play the shortest recording only: a look takes them up to half a second."""

Tell = Callable[[str], None]


class Track(NamedTuple):
    """Recordings to play: where an entry may learn, and where it is judged; simulated if ``test`` is None."""

    name: str
    challenge: str
    train: Path | None = None
    test: Path | None = None
    people: int = 0

    @property
    def digest(self) -> str:
        if self.test is not None:
            return data_digest(self.train) + data_digest(self.test)
        return f"{FRESH_SEED} {self.people}"


def main(
    data: Path | None, quick: bool, kept: KeptRows | None = None, tell: Tell = lambda text: None
) -> list[dict[str, Any]]:
    """Rows of the decoder table.

    Parameters
    ----------
    data : Path, optional
        A folder with real recordings; without it only simulated people are played.
    quick : bool
        One simulated person of one challenge, without peers.
    kept : KeptRows, optional
        Rows measured before.
    tell : callable
        Told in words what is being done.
    """
    kept, rows = kept or KeptRows(), []
    for track in _tracks(data, quick):
        names = [f"@{track.challenge}", f"@{track.challenge}-baseline"]
        names += [] if quick else [n for n in PEERS.get(track.challenge, {}) if SLOW not in n or _short(track)]
        keys = {name: key_of(track.name, name, track.digest) for name in names}
        codes = {name: _code(track, name) for name in names}
        found = {name: kept.find(keys[name], codes[name]) for name in names}
        if None in found.values():
            with tempfile.TemporaryDirectory(prefix="arena-bench-") as place:
                tell(f"{track.name}: preparing recordings")
                ready = _prepared(track, Path(place))
                for name in (name for name in names if found[name] is None):
                    found[name] = row = _row(ready, name, Path(place), tell)
                    kept.keep(keys[name], codes[name], row)
        for name in names:
            if done := found[name]:
                tell(f"[done] {track.name}, {name}: {done['score']:.2f} {done['unit']}")
                rows.append(done)
    return rows


def _tracks(data: Path | None, quick: bool) -> Iterator[Track]:
    if data is not None:
        if not data.is_dir():
            raise BadInput(f"--data {data}: no such folder")
        found = [track for track in _real(data) if track.test is not None and track.test.is_dir()]
        if not found:
            names = ", ".join(str(track.test.relative_to(data)) for track in _real(data) if track.test)
            raise BadInput(f"--data {data}: none of {names} is there")
        yield from found
    for name, people in {"imagery": 1}.items() if quick else PEOPLE.items():
        yield Track(f"{name}, simulated", name, people=people)
    if not quick:
        yield Track("liveness, simulated", "liveness", people=23)


def _real(data: Path) -> Iterator[Track]:
    yield Track("imagery, real", "imagery", data / "imagery" / "train", data / "imagery" / "test")
    yield Track("speller, real, spliced", "speller", None, data / "speller_spliced")
    yield Track("speller, real, one block", "speller", None, data / "speller_bupt")
    yield Track("idle, real", "speller", None, data / "idle")
    yield Track("liveness, real", "liveness", data / "liveness", data / "liveness" / "eval_A")


def _short(track: Track) -> bool:
    return track.name == "speller, real, one block"


def _code(track: Track, name: str) -> str:
    """Digest of what decides a row: the entry with its decoders, or the peer, and the simulator if it made the data."""
    import inspect

    rooms = ("simulator", "protocol") if track.test is None else ()
    made = code_digest(path for room in rooms for path in (HOME / room).rglob("*.py"))
    if name.startswith("@"):
        return key_of(made, code_digest((HOME / "entries" / name[1:].replace("-", "_")).rglob("*.py")))
    kinds = [kind for kind in PEERS[track.challenge][name].__mro__ if kind.__module__.startswith("bciarena")]
    return key_of(made, *map(inspect.getsource, kinds))


def _prepared(track: Track, place: Path) -> Track:
    """The track with its folders: simulated ones made, a training folder without the set that is judged."""
    if track.test is not None:
        if track.train is None or track.test.parent != track.train:
            return track
        for folder in track.train.iterdir():
            if folder.is_dir() and folder != track.test:
                shutil.copytree(folder, place / "train" / folder.name)  # a box does not follow links out of its folder
        return track._replace(train=place / "train")
    from bciarena.simulator.make import Order, make

    if track.challenge == "liveness":
        for split in ("cali_train", "eval_train", "cali_B"):
            make(Order("liveness", split, blocks=6, seed=FRESH_SEED), place / "train" / split)
        make(Order("liveness", "eval_B", blocks=6, seed=FRESH_SEED), place / "test")
        return track._replace(train=place / "train", test=place / "test")
    for split in ("train", "test") if track.challenge != "speller" else ("test",):
        make(Order(track.challenge, split, track.people, seed=FRESH_SEED), place / split)
    return track._replace(train=None if track.challenge == "speller" else place / "train", test=place / "test")


def _row(track: Track, name: str, place: Path, tell: Tell) -> dict[str, Any]:
    """Train, play and measure one entry or peer."""
    book = rulebook(track.challenge)
    tell(f"{track.name}: training {name}")
    player, train_s, model_mb = (_entry if name.startswith("@") else _peer)(track, name, place)
    assert track.test is not None
    recording = open_recording(track.test)

    def progress(at: Progress) -> None:
        tell(f"{track.name}: playing {name}, {100 * at.packets // max(at.total_packets, 1)} %")

    out = place / "run"
    with _watched() as memory:
        result = run_match(book, recording, player, out=out, force=True, on_progress=progress)
    tell(f"{track.name}: timing {name}")
    first = recording.subjects[0]
    with _first_in_line() as alone:
        run_match(book, Recording((replace(first, blocks=first.blocks[:1]),)), player, out=out, force=True)
    p50, p99 = np.percentile(RunFolder(out).think_s(), [50, 99]) * 1e3
    reach = intervals(result)["score"]
    row: dict[str, Any] = {
        "track": track.name,
        "name": name,
        "score": float(result["score"]),
        "low": reach.low,
        "high": reach.high,
        "drawn": reach.unit,
        "unit": result["unit"],
        "verdict": result["verdict"],
        **{key: float(value) for key, value in result["metrics"].items()},
        "p50_ms": float(p50),
        "p99_ms": float(p99),
        "train_s": train_s,
        "model_mb": model_mb,
        "memory_mb": memory[0] if name.startswith("@") else None,
        "first_in_line": alone,
    }
    if track.name == "idle, real":
        alarms = sum(trial["status"] == "false_positive" for trial in result["trials"])
        row["alarms_a_minute"] = alarms / (recording.seconds / 60)
    return row


def _entry(track: Track, name: str, place: Path) -> tuple[Player, float, float]:
    """A reference entry in its box, trained there too: player, seconds of training, megabytes of model."""
    from bciarena.entries.opened import opened

    book = rulebook(track.challenge)

    def player(match: Any) -> Any:
        with opened(name, book, model=model) as ready:
            return ready.player()(match)

    model, train_s, size = None, 0.0, 0
    with opened(name, book) as ready:
        if ready.package.needs_model and track.train is not None:
            model = place / f"model{name}"
            begin = time.perf_counter()
            ready.train(track.train, model)
            train_s = time.perf_counter() - begin
            size = sum(path.stat().st_size for path in model.rglob("*") if path.is_file())
    return player, train_s, size / 1e6


def _peer(track: Track, name: str, place: Path) -> tuple[Player, float, float]:
    peer, begin, size = PEERS[track.challenge][name](), time.perf_counter(), 0
    if track.train is not None and hasattr(peer, "fit"):
        peer.fit(open_sets(track.train))
        size = len(pickle.dumps(peer))
    return in_process(peer), time.perf_counter() - begin, size / 1e6


@contextmanager
def _first_in_line() -> Iterator[bool]:
    """Real-time priority, where allowed: a machine busy with other work then measures what a quiet one would."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@contextmanager
def _watched() -> Iterator[list[float]]:
    """Largest resident memory of any process started by this one meanwhile, in MB."""
    most, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(0.5):
            most[0] = max(most[0], _largest_child_mb())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()


def _largest_child_mb() -> float:
    parents, sizes = {}, {}
    page = os.sysconf("SC_PAGE_SIZE")
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended while we looked
            continue
        parents[int(folder.name)], sizes[int(folder.name)] = int(words[1]), int(words[21]) * page / 1e6
    mine, largest = {os.getpid()}, 0.0
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
        largest = max(largest, *(sizes[pid] for pid in more))
    return largest
