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
from bciarena.bench.peers import bench_of
from bciarena.contests import CONTESTS, rulebook
from bciarena.entries.reference import find as find_reference
from bciarena.errors import BadInput
from bciarena.inprocess import InProcess
from bciarena.match import Player, Progress
from bciarena.recording import Recording, open_recording, open_sets
from bciarena.recording.write import write_contest
from bciarena.report.statistics import intervals
from bciarena.runs import RunFolder, run_match

FRESH_SEED = 61_847
"""Seed of the simulated people. Nothing was tuned on it; after looking at single trials of it, choose another."""

Tell = Callable[[str], None]


class Track(NamedTuple):
    """Recordings to play: where an entry is trained, and where it is scored; simulated if ``test`` is None."""

    name: str
    challenge: str
    train: Path | None = None
    test: Path | None = None
    people: int = 0
    short: bool = False
    idle: bool = False
    layout: Callable[[Any], Any] | None = None
    seed: int = FRESH_SEED

    @property
    def digest(self) -> str:
        if self.test is not None:
            return data_digest(self.train) + data_digest(self.test)
        return f"{self.seed} {self.people}"

    def names(self, peers: bool = True) -> list[str]:
        """Entry, baseline and peers that play here."""
        own = bench_of(self.challenge)
        others = [name for name in own.peers if name not in own.slow or self.short] if peers else []
        return [f"@{self.challenge}", f"@{self.challenge}-baseline", *others]


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
        Called with a description of what is being done.
    """
    kept, rows = kept or KeptRows(), []
    for track in tracks(data, quick):
        names = track.names(peers=not quick)
        keys = {name: key_of(track.name, name, track.digest) for name in names}
        codes = {name: code_of(track, name) for name in names}
        found = {name: kept.find(keys[name], codes[name]) for name in names}
        if None in found.values():
            with tempfile.TemporaryDirectory(prefix="arena-bench-") as place:
                tell(f"{track.name}: preparing recordings")
                ready = prepared(track, Path(place))
                for name in (name for name in names if found[name] is None):
                    found[name] = row = _row(ready, name, Path(place), tell)
                    kept.keep(keys[name], codes[name], row)
        for name in names:
            if done := found[name]:
                tell(f"[done] {track.name}, {name}: {done['score']:.2f} {done['unit']}")
                rows.append(done)
    return rows


def tracks(data: Path | None, quick: bool) -> Iterator[Track]:
    """Real recordings that are in the folder, then simulated people."""
    if data is not None:
        if not data.is_dir():
            raise BadInput(f"--data {data}: no such folder")
        found = [track for track in _real(data) if track.test is not None and track.test.is_dir()]
        if not found:
            names = ", ".join(str(track.test.relative_to(data)) for track in _real(data) if track.test)
            raise BadInput(f"--data {data}: none of {names} is there")
        yield from found
    simulated = [(name, bench_of(name).people) for name in CONTESTS if bench_of(name).people]
    for name, people in [(simulated[0][0], 1)] if quick else simulated:
        yield Track(f"{name}, simulated", name, people=people)


def _real(data: Path) -> Iterator[Track]:
    for name in CONTESTS:
        for one in bench_of(name).real:
            train = data / one.train if one.train else None
            title = one.name if one.idle else f"{name}, {one.name}"
            yield Track(title, name, train, data / one.test, short=one.short, idle=one.idle, layout=one.layout)


def code_of(track: Track, name: str) -> str:
    """Digest of what a row depends on: the entry with its decoders or the peer, and the simulator if it was used."""
    import inspect

    rooms = ("simulator", "protocol") if track.test is None else ()
    made = code_digest(path for room in rooms for path in (HOME / room).rglob("*.py"))
    if track.layout is not None:
        made += code_digest([Path(inspect.getfile(track.layout))])
    if name.startswith("@"):
        return key_of(made, code_digest(find_reference(name).folder.rglob("*.py")))
    kinds = [kind for kind in bench_of(track.challenge).peers[name].__mro__ if kind.__module__.startswith("bciarena")]
    return key_of(made, *map(inspect.getsource, kinds))


def prepared(track: Track, place: Path) -> Track:
    """The track with its folders: simulated ones made, a training folder without the set that is judged."""
    if track.layout is not None:
        assert track.train is not None
        assert track.test is not None
        for part, source in (("train", track.train), ("test", track.test)):
            for subject, number, block in open_recording(source):
                data = track.layout(np.concatenate([block.eeg, block.trigger_row[None]]))
                path = place / part / f"S{subject:02d}" / f"block_{number}.npz"
                path.parent.mkdir(parents=True, exist_ok=True)
                write_contest(path, data, block.rate, block.channels)
        return track._replace(train=place / "train", test=place / "test")
    if track.test is not None:
        if track.train is None or track.test.parent != track.train:
            return track
        for folder in track.train.iterdir():
            if folder.is_dir() and folder != track.test:
                shutil.copytree(folder, place / "train" / folder.name)  # a box does not follow links out of its folder
        return track._replace(train=place / "train")
    from bciarena.simulator.make import Order, make

    own = bench_of(track.challenge)
    train = place / "train"
    for split in own.train:
        order = Order(track.challenge, split, track.people, own.blocks, track.seed)
        make(order, train / split if len(own.train) > 1 else train)
    make(Order(track.challenge, own.test, track.people, own.blocks, track.seed), place / "test")
    return track._replace(train=train if own.train else None, test=place / "test")


def _row(track: Track, name: str, place: Path, tell: Tell) -> dict[str, Any]:
    """Train, play and measure one entry or peer."""
    book = rulebook(track.challenge)
    tell(f"{track.name}: training {name}")
    player, train_s, model_mb = learnt(track, name, place)
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
    if track.idle:
        alarms = sum(trial["status"] == "false_positive" for trial in result["trials"])
        row["alarms_a_minute"] = alarms / (recording.seconds / 60)
    return row


def learnt(track: Track, name: str, place: Path) -> tuple[Player, float, float]:
    """An entry or a peer that was trained on the track: player, seconds of training, megabytes of model."""
    return (_entry if name.startswith("@") else _peer)(track, name, place)


def _entry(track: Track, name: str, place: Path) -> tuple[Player, float, float]:
    """A reference entry in its box, trained there too."""
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
    peer, begin, size = bench_of(track.challenge).peers[name](), time.perf_counter(), 0
    if track.train is not None and hasattr(peer, "fit"):
        peer.fit(open_sets(track.train))
        size = len(pickle.dumps(peer))
    return InProcess(peer), time.perf_counter() - begin, size / 1e6


@contextmanager
def _first_in_line() -> Iterator[bool]:
    """Real-time priority, where allowed: a busy machine then measures what a quiet one would."""
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
        except OSError:  # it ended meanwhile
            continue
        parents[int(folder.name)], sizes[int(folder.name)] = int(words[1]), int(words[21]) * page / 1e6
    mine, largest = {os.getpid()}, 0.0
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
        largest = max(largest, *(sizes[pid] for pid in more))
    return largest
