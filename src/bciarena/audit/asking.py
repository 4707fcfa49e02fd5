"""All probes on all scored sets of a folder, and whether a phase may open on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.audit.chance import FOLDS, Outcome, as_told, examine, kernel, smoother
from bciarena.audit.duplicates import shared
from bciarena.audit.part import Aspect, aspects_of, audit_of
from bciarena.audit.seen import PROBES, Case, cases_of, place
from bciarena.contests import contest, rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.spans import check_form
from bciarena.errors import BadInput
from bciarena.recording.folder import open_sets
from bciarena.recording.model import Recording
from bciarena.release.part import Release

ALPHA = 0.01
"""How often a clean set fails: the error of a whole audit, shared by its probes (Bonferroni)."""
MOST_TRIALS = 600
FEW_TRIALS = 40
LEAST_WORDS = 20
"""Characters of a waiver: a reason, not a tick."""
Say = Callable[[str], None]


def verdict(folder: Path, challenge: str, waiver: str = "", say: Say = lambda words: None) -> dict[str, Any]:
    """Whether a phase may open on a data folder: all probes at chance, or a waiver that says why it opens all the same.

    Returns
    -------
    dict
        Ready for JSON: ``passed``, ``opens``, ``waiver`` (kept as it was written) and all of `audit`'s findings.
    """
    found = audit(folder, challenge, say)
    waiver = " ".join(waiver.split())
    if waiver and len(waiver) < LEAST_WORDS:
        raise BadInput(f"waiver: {waiver!r} is no reason; say in {LEAST_WORDS} characters or more why it opens")
    return found | {"waiver": waiver, "opens": found["passed"] or bool(waiver)}


def audit(folder: Path, challenge: str, say: Say = lambda words: None, seed: int = 0) -> dict[str, Any]:
    """Examine every scored set of a release, of a folder of sets, or a data folder."""
    book = rulebook(challenge)
    sets, scored = _sets(book, Path(folder))
    return audit_sets(book, sets, scored, say, seed)


def audit_sets(
    book: Rulebook, sets: dict[str, Recording], scored: list[str], say: Say = lambda words: None, seed: int = 0
) -> dict[str, Any]:
    """Examine sets that are open already; those that are not scored are only searched for duplicates."""
    aspects = aspects_of(book)
    tests = len(scored) * (len(PROBES) + 1) * len(aspects)
    rows: list[dict[str, Any]] = []
    for name in scored:
        rows += _examined(book, sets, name, aspects, tests, say, seed)
    digest = {name: sets[name].digest for name in scored}
    return {
        "challenge": book.id,
        "data": digest[scored[0]] if len(scored) == 1 else digest,
        "alpha": ALPHA,
        "tests": tests,
        "passed": not any(row["leak"] for row in rows),
        "probes": rows,
    }


def _examined(
    book: Rulebook, sets: dict[str, Recording], name: str, aspects: dict[str, Aspect], tests: int, say: Say, seed: int
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    check_form(book, sets[name])
    cases = _enough(cases_of(book, sets[name]), seed)
    if len(sets) > 1:
        say(f"{name}: duplicates")
        rows += [_duplicate(name, other, seconds) for other, seconds in shared(sets, name).items()]
    for probe in [*PROBES, "file"]:
        say(f"{name} {probe}".strip())
        rows += _probe(book, name, probe, cases, aspects, tests, seed)
    return rows


def _sets(book: Rulebook, folder: Path) -> tuple[dict[str, Recording], list[str]]:
    """Every set by name, and the scored ones."""
    if (folder / "truth").is_dir() and (folder / "public").is_dir():
        truth = open_sets(folder / "truth")
        given = {name: one for name, one in open_sets(folder / "public").items() if name not in truth}
        hidden = [name for name in truth if not (folder / "public" / name).is_dir()]
        return {**truth, **given}, [name for name in truth if name not in hidden]
    sets = open_sets(folder)
    if "" in sets:
        return sets, [""]
    roles = contest(book).part("release", Release, Release(dict.fromkeys(sets, "scored"))).sets
    scored = [name for name in sets if roles.get(name, "scored") == "scored"]
    if not scored:
        raise BadInput(
            f"{folder}: none of its sets ({', '.join(sets)}) is scored; name the folder of one to examine it"
        )
    return sets, scored


def _enough(cases: list[Case], seed: int) -> list[Case]:
    """Not more trials than the learner takes in good time."""
    if len(cases) <= MOST_TRIALS:
        return cases
    kept = np.sort(np.random.default_rng(seed).choice(len(cases), MOST_TRIALS, replace=False))
    return [cases[k] for k in kept]


def _probe(
    book: Rulebook, name: str, probe: str, cases: list[Case], aspects: dict[str, Aspect], tests: int, seed: int
) -> list[dict[str, Any]]:
    rightful = audit_of(book).rightful.get(probe, frozenset())
    rows = []
    for aspect, told in aspects.items():
        said = [told(one.code) for one in cases]
        kept = [k for k, label in enumerate(said) if label is not None]
        own = [cases[k] for k in kept]
        values, labels = np.unique([str(said[k]) for k in kept], return_inverse=True)
        row: dict[str, Any] = {"set": name, "probe": probe, "aspect": aspect, "trials": len(own), "leak": False}
        if aspect in rightful:
            rows.append(row | {"note": "rightful"})
            continue
        if len(values) < 2:
            rows.append(row | {"note": "one_class"})
            continue
        if probe == "file" and aspect in audit_of(book).by_number:
            guess = audit_of(book).by_number[aspect]
            right = np.array([guess(one.number) == said[k] for k, one in zip(kept, own, strict=True)])
            outcome = as_told(right, np.array([one.subject for one in own]), np.random.default_rng(seed))
            row |= {key: round(value, 5) for key, value in outcome._asdict().items()}
            rows.append(row | {"leak": right.all().item() or outcome.p * tests < ALPHA, "note": ""})
            continue
        found = _outcome(book, probe, own, np.asarray(labels, np.int64), tests, seed)
        if found is None:
            rows.append(row | {"note": "nothing"})
            continue
        row |= {key: round(value, 5) for key, value in found._asdict().items()}
        rows.append(row | {"leak": found.p * tests < ALPHA, "note": "few" if len(own) < FEW_TRIALS else ""})
    return rows


def _outcome(book: Rulebook, probe: str, own: list[Case], labels: Any, tests: int, seed: int) -> Outcome | None:
    rng = np.random.default_rng(seed)
    visible = np.array([book.mask[one.code] for one in own])
    blocks = np.array([1000 * one.subject + one.number for one in own])
    if probe == "file":
        if len(set(blocks.tolist())) < 2:
            return None
        predict = smoother(place(book, own), np.arange(len(own)))
        return examine(predict, labels, visible, np.zeros_like(blocks), rng, ALPHA, tests)
    features = PROBES[probe](book, own)
    if features is None:
        return None
    folds = rng.permutation(len(own)) % min(FOLDS, len(own))
    return examine(smoother(kernel(features), folds), labels, visible, blocks, rng, ALPHA, tests)


def _duplicate(name: str, other: str, seconds: float) -> dict[str, Any]:
    row = {"set": name, "probe": "duplicates", "aspect": other, "trials": 0, "seconds": round(seconds, 3)}
    return row | {"leak": seconds > 0, "note": "seconds"}
