"""Learning curves: what more training trials, and more people to learn from, are worth.

A smaller training folder is a folder like any other: blocks cut short, people left out. Entries and peers are trained
on it and play by the same rules as on the whole one; who has no training data plays as a stranger, left out whole.
Where a contest releases no training data, trials are counted while an entry plays.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bciarena.bench.decoders import Tell, Track, code_of, learnt, prepared, tracks
from bciarena.bench.kept import KeptRows, key_of
from bciarena.bench.peers import bench_of
from bciarena.contests import rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.spans import trial_spans
from bciarena.recording import Recording, open_recording
from bciarena.recording.write import write_contest
from bciarena.report.statistics import intervals, trials_from
from bciarena.report.units import units_of
from bciarena.runs import run_match

SEED = 83_291
"""Seed of the simulated people; nothing was tuned on it, and no other table shows them."""
PEOPLE = 4
SHARES = (0.25, 0.5, 1.0)
PLAYED = (10, 20, 40, 80, 160)
OWN, SHOWN, STRANGERS, WHILE = "trials", "people", "strangers", "played"
"""What is counted: a person's training trials; people in the training set, oneself among them; people in the
training set of others; trials since the run began."""


class Play(NamedTuple):
    """People (counted from 0) who play with what was learnt, and the point of the curve to which this belongs."""

    kind: str
    size: float
    people: list[int]
    first: int = 1  # the number under which the first of them plays


class Lesson(NamedTuple):
    """A training folder, and who plays with what was learnt from it."""

    train: Path | None
    plays: list[Play]


def main(data: Path | None, kept: KeptRows, tell: Tell = lambda text: None) -> list[dict[str, Any]]:
    """Rows of the learning curves: one for every entry or peer, track and size.

    Parameters
    ----------
    data : Path, optional
        A folder with real recordings; without it only simulated people are played.
    kept : KeptRows
        Rows measured before.
    tell : callable
        Called with a description of what is being done.
    """
    rows = []
    for track in _chosen(data):
        names = track.names()
        keys = {name: key_of("curves", track.name, name, track.digest, str((SHARES, PLAYED))) for name in names}
        codes = {name: code_of(track, name) for name in names}
        found = {name: kept.find(keys[name], codes[name]) for name in names}
        if None in found.values():
            with tempfile.TemporaryDirectory(prefix="arena-curves-") as place:
                tell(f"{track.name}: preparing recordings")
                ready = _unpacked(prepared(track, Path(place)), Path(place))
                lessons = list(_lessons(ready, Path(place)))
                for name in (name for name in names if found[name] is None):
                    found[name] = curve = {"points": _points(ready, name, lessons, Path(place), tell)}
                    kept.keep(keys[name], codes[name], curve)
        for name in names:
            if done := found[name]:
                tell(f"[done] {track.name}, {name}: {len(done['points'])} points")
                stale = done.get("stale", False)
                rows += [point | {"track": track.name, "name": name, "stale": stale} for point in done["points"]]
    return rows


def _chosen(data: Path | None) -> Iterator[Track]:
    """The first track of each contest; where nothing can be trained, simulated people too."""
    met: set[str] = set()
    for track in tracks(data, quick=False):
        trained = bool(bench_of(track.challenge).train)
        if track.challenge in met and (trained or track.test is not None):
            continue
        met.add(track.challenge)
        if track.test is None:
            mixed = bench_of(track.challenge).smaller is not None
            track = track._replace(seed=SEED, people=PEOPLE if trained and not mixed else track.people)
        yield track


def _unpacked(track: Track, place: Path) -> Track:
    """The track with a training folder whose blocks are not compressed: they are read often."""
    if track.train is None or bench_of(track.challenge).smaller is not None or place in track.train.parents:
        return track
    for subject, number, block in open_recording(track.train):
        path = place / "whole" / f"S{subject:02d}" / f"block_{number}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_contest(path, block.data, block.rate, block.channels)
    return track._replace(train=place / "whole")


def _points(track: Track, name: str, lessons: Sequence[Lesson], place: Path, tell: Tell) -> list[dict[str, Any]]:
    """Every point of one entry's curves."""
    book = rulebook(track.challenge)
    assert track.test is not None
    test = open_recording(track.test)
    found: dict[tuple[str, float], list[Any]] = {}
    challenge = ""
    for train, plays in lessons:
        sizes = ", ".join(f"{play.kind} {play.size:g}" for play in plays)
        tell(f"{track.name}: {name}, {sizes}")
        with tempfile.TemporaryDirectory(dir=place) as room:
            player = learnt(track._replace(train=train), name, Path(room))[0]
            for play in plays:
                part = Recording(tuple(test.subjects[one] for one in play.people), first=play.first)
                result = run_match(book, part, player, clock="data")
                challenge = result["challenge"]
                trials = [row | {"subject": play.people[row["subject"] - play.first] + 1} for row in result["trials"]]
                if play.kind == WHILE:
                    found |= _while(trials)
                else:
                    found.setdefault((play.kind, play.size), []).extend(trials)
    return [{"kind": kind, "size": size} | _measured(book, challenge, trials) for (kind, size), trials in found.items()]


def _lessons(track: Track, place: Path) -> Iterator[Lesson]:
    """Training folders, large and small, and who plays with what is learnt from each."""
    assert track.test is not None
    people = list(range(len(open_recording(track.test).subjects)))
    if track.train is None:
        yield Lesson(None, [Play(WHILE, 0, people)])
        return
    smaller = bench_of(track.challenge).smaller
    for share in SHARES:
        if smaller is not None:
            trials, shown = smaller(track.train, place / f"calibration {share}", share, 1.0)
            plays = [Play(OWN, trials, people)] + [Play(SHOWN, shown, people)] * (share == 1.0)
            yield Lesson(place / f"calibration {share}", plays)
            if share < 1.0:
                _, shown = smaller(track.train, place / f"shown {share}", 1.0, share)
                yield Lesson(place / f"shown {share}", [Play(SHOWN, shown, people)])
        else:
            trials = _cut(rulebook(track.challenge), track.train, place / f"share {share}", people, share)
            plays = [Play(OWN, trials, people)] + [Play(SHOWN, len(people), people)] * (share == 1.0)
            yield Lesson(place / f"share {share}", plays)
    size = 1
    while smaller is None and size <= len(people) // 2:
        groups = [people[at : at + size] for at in range(0, len(people) - len(people) % size, size)]
        for index, group in enumerate(groups):
            folder = place / f"people {group}"
            _cut(rulebook(track.challenge), track.train, folder, group, 1.0)
            # Numbers of a match tell who is who: strangers have numbers that the training folder has not.
            others = groups[(index + 1) % len(groups)]
            yield Lesson(folder, [Play(SHOWN, size, group), Play(STRANGERS, size, others, size + 1)])
        size *= 2


def _cut(book: Rulebook, train: Path, out: Path, people: Sequence[int], share: float) -> float:
    """Blocks of some people, each cut as soon as every class has come often enough; mean trials a person."""
    trials = 0
    for subject, number, block in open_recording(train):
        if subject - 1 not in people:
            continue
        spans = trial_spans(book, block)
        path = out / f"S{subject:02d}" / f"block_{number}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = len(spans) if share == 1.0 else _enough([span.code for span in spans], share)
        trials += kept
        if kept == len(spans):
            os.link(block.source, path)
        else:
            write_contest(path, block.data[:, : spans[kept].opened], block.rate, block.channels)
    return trials / len(people)


def _enough(codes: Sequence[int], share: float) -> int:
    """How many trials from the first on hold a share of every class's trials, one at least."""
    wanted = max(1, round(share * min(Counter(codes).values())))
    met: Counter[int] = Counter()
    for count, code in enumerate(codes, 1):
        met[code] += 1
        if len(met) == len(set(codes)) and min(met.values()) >= wanted:
            return count
    return len(codes)


def _while(trials: list[Any]) -> dict[tuple[str, float], list[Any]]:
    """Trials by how many the person had played until then."""
    counted: Counter[int] = Counter()
    found: dict[tuple[str, float], list[Any]] = {}
    for trial in trials:
        counted[trial["subject"]] += 1
        until = next((size for size in PLAYED if counted[trial["subject"]] <= size), None)
        if until is not None:
            found.setdefault((WHILE, until), []).append(trial)
    return found


def _measured(book: Rulebook, challenge: str, trials: list[Any]) -> dict[str, Any]:
    """The contest's rate over some trials, with its interval."""
    result: dict[str, Any] = {"challenge": challenge, "trials": trials}
    own, units = bench_of(book), units_of(book, trials_from(result))
    rates = {name: float(value[0]) for name, value in units.rates(np.ones((1, units.sizes.size))).items()}
    reach = intervals(result | {"score": rates["score"], "metrics": {own.measure: rates[own.measure]}})[own.measure]
    return {
        "score": rates[own.measure],
        "low": reach.low,
        "high": reach.high,
        "unit": own.unit or book.unit,
        "count": len(trials),
    }
