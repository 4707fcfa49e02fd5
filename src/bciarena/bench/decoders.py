"""Every entry and peer on the same recordings under the same rules.

An entry gets the training folder and nothing else; test folders are opened only by the referee.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bciarena.bench.peers import PEERS
from bciarena.challenges import rulebook
from bciarena.errors import BadInput
from bciarena.inprocess import in_process
from bciarena.match import Player
from bciarena.recording import open_recording, open_sets
from bciarena.report.statistics import intervals
from bciarena.runs import run_match

FRESH_SEED = 20_261  # simulated people nobody tuned on


class Track(NamedTuple):
    """Recordings to play: where an entry may learn, and where it is judged."""

    name: str
    challenge: str
    train: Path | None
    test: Path


def main(data: Path | None, quick: bool) -> list[dict[str, Any]]:
    """Rows of the decoder table."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as place:
        rows = []
        for track in _tracks(data, Path(place), quick):
            for name, player, train_s in _players(track, Path(place), quick):
                rows.append(_row(track, name, player, train_s, Path(place)))
        return rows


def _tracks(data: Path | None, place: Path, quick: bool) -> Iterator[Track]:
    if data is not None:
        if not data.is_dir():
            raise BadInput(f"--data {data}: no such folder")
        yield from (track for track in _real(data) if track.test.is_dir())
    from bciarena.simulator.make import Order, make

    people = 2 if quick else 5
    for name in ("imagery", "turing", "speller", "rehab"):
        folders = {}
        for split in ("train", "test") if name != "speller" else ("test",):
            folders[split] = place / f"{name}-{split}"
            make(Order(name, split, people, seed=FRESH_SEED), folders[split])
        yield Track(f"{name}, simulated", name, folders.get("train"), folders["test"])
    sets = place / "liveness"
    for split in ("cali_train", "eval_train", "cali_B", "eval_B"):
        target = sets / split if split != "eval_B" else place / "eval_B"
        make(Order("liveness", split, blocks=4 if quick else 10, seed=FRESH_SEED), target)
    yield Track("liveness, simulated", "liveness", sets, place / "eval_B")


def _real(data: Path) -> Iterator[Track]:
    yield Track("imagery, real", "imagery", data / "imagery" / "train", data / "imagery" / "test")
    yield Track("speller, real, spliced", "speller", None, data / "speller_spliced")
    yield Track("speller, real, one block", "speller", None, data / "speller_bupt")
    yield Track("idle, real", "speller", None, data / "idle")
    yield Track("liveness, real", "liveness", data / "liveness", data / "liveness" / "eval_A")


def _players(track: Track, place: Path, quick: bool) -> Iterator[tuple[str, Player, float]]:
    from bciarena.entries.environments import interpreter_for
    from bciarena.entries.package import open_entry
    from bciarena.sandbox import boxed
    from bciarena.sandbox.training import train_boxed

    book = rulebook(track.challenge)
    for name in (f"@{track.challenge}", f"@{track.challenge}-baseline"):
        with open_entry(name, book) as package:
            model, train_s = None, 0.0
            if package.needs_model and track.train is not None:
                model = place / f"{track.name}-{name}-model".replace("/", "-").replace(" ", "-")
                begin = time.perf_counter()
                train_boxed(package, interpreter_for(package), book, _training(track, place), model)
                train_s = time.perf_counter() - begin
            yield name, boxed(package, interpreter_for(package), model=model), train_s
    for name, maker in {} if quick else PEERS.get(track.challenge, {}).items():
        peer, begin = maker(), time.perf_counter()
        if track.train is not None and hasattr(peer, "fit"):
            peer.fit(open_sets(track.train))
        yield name, in_process(peer), time.perf_counter() - begin


def _training(track: Track, place: Path) -> Path:
    """The training folder without the set that is judged."""
    assert track.train is not None
    if track.challenge != "liveness" or track.test.parent != track.train:
        return track.train
    kept = place / "liveness-training"
    if not kept.exists():
        for folder in track.train.iterdir():
            if folder.is_dir() and folder != track.test:
                shutil.copytree(folder, kept / folder.name)  # a box does not follow links out of its folder
    return kept


def _row(track: Track, name: str, player: Player, train_s: float, place: Path) -> dict[str, Any]:
    out = place / "run"
    result = run_match(rulebook(track.challenge), open_recording(track.test), player, out=out, force=True)
    with np.load(out / "think.npz") as file:
        p50, p99 = np.percentile(file["think_s"], [50, 99]) * 1e3
    found = intervals(result)["score"]
    reach = f"[{found.low:.1f}, {found.high:.1f}]" if found.low is not None else ""
    metrics = result["metrics"]
    row: dict[str, Any] = {"measure": f"{track.name}: {name}", "score": f"{result['score']:.2f} {reach}"}
    for key in (
        "accuracy",
        "accuracy_real",
        "accuracy_subject",
        "mean_length_s",
        "fpr",
        "blocks_passed",
        "mean_points",
    ):
        if key in metrics:
            row[key] = float(metrics[key])
    if track.name == "idle, real":
        minutes = open_recording(track.test).seconds / 60
        reports = sum(t["status"] == "false_positive" for t in result["trials"])
        row["false alarms a minute"] = reports / minutes
    if result["verdict"] != "ok":
        row["verdict"] = result["verdict"]
    return row | {"p50_ms": float(p50), "p99_ms": float(p99), "train_s": train_s}
