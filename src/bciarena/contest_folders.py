"""What is wrong with a contest's folder, line by line, and the small working one to start from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from bciarena.contests import add
from bciarena.contests.contest import Contest, load
from bciarena.contests.probe import RUNS, made_up
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.writing import wanted_folder

TEMPLATE = Path(__file__).parent / "starter" / "contest"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


class Finding(NamedTuple):
    """One thing that was looked at."""

    part: str
    problem: str  # empty: nothing is wrong
    note: str = ""


def write_contest_folder(folder: Path) -> list[str]:
    """Write a small working contest and return the names of its files."""
    name = folder.resolve().name.lower()
    if not NAME.fullmatch(name):
        raise BadInput(f"{folder}: the folder's name becomes the contest's: use small letters, digits, - and _")
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder}: exists already; choose a new folder")
    with wanted_folder(folder) as beside:
        for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            text = source.read_text("utf-8").replace("__NAME__", name).replace("__TITLE__", name.capitalize())
            target = beside / source.relative_to(TEMPLATE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        return sorted(path.relative_to(beside).as_posix() for path in beside.rglob("*") if path.is_file())


def check_folder(folder: Path) -> list[Finding]:
    """Check every part of a contest's folder; a problem that makes further checks impossible ends the list."""
    try:
        contest = add(load(folder))
    except BadInput as error:
        return [Finding("rules.py", str(error))]
    found = []
    for book in contest.rulebooks:
        found += [Finding("rules.py", problem) for problem in _rules(book)] or [Finding("rules.py", "", book.id)]
        found += [Finding("score.py", problem) for problem in _score(book)] or [Finding("score.py", "", book.unit)]
    return found + list(_parts(contest))


def _rules(book: Rulebook) -> Iterator[str]:
    """Contradictions and impossible values of a rulebook."""
    asked = {truth for code, truth in book.truth.items() if code not in book.idle}
    if not asked:
        yield "truth: no code opens a trial that asks for an answer"
    if unknown := sorted(asked - set(book.vocabulary)):
        yield f"truth: {', '.join(unknown[:5])}: not in the vocabulary, so nobody can answer it"
    if wrong := [code for code in book.truth if not 0 < code < 256]:
        yield f"truth: codes are 1 to 255, not {wrong[0]}"
    if len(book.mask) != 256 or not all(0 <= code < 256 for code in book.mask):
        yield "mask: needs 256 codes, each 0 to 255; use mask({...})"
    elif shown := [code for code, truth in book.truth.items() if book.mask[code] == code and len(asked) > 1]:
        yield f"mask: code {shown[0]} reaches the entry as it is and tells the truth ({book.truth[shown[0]]})"
    if overlap := sorted(set(book.truth) & set(book.masked)):
        yield f"masked: {overlap[0]} cannot both open a trial and stand for a masked truth"
    if len(set(book.channels)) != len(book.channels) or not book.channels:
        yield "channels: give each row one name of its own"
    if book.rate < 1 or book.packet_n < 1:
        yield "rate, packet_n: give 1 or more"
    if book.limit_s is None and book.closing is None:
        yield "limit_s: without a limit every trial needs a closing code"
    if book.missing_s is None and book.closing is None:
        yield "missing_s: without a closing code a missing answer has no length; give one"


def _score(book: Rulebook) -> Iterator[str]:
    """What the score code does on synthetic trials."""
    try:
        scores = [book.score(made_up(book, skill)) for skill in RUNS]
        again = [book.score(made_up(book, skill)).score for skill in RUNS]
        book.score([])
        json.dumps([one.metrics for one in scores])
    except Exception as error:  # foreign score code: whatever it raises is the finding
        yield f"{type(error).__name__}: {error}"
        return
    values = [one.score for one in scores]
    if not all(isfinite(value) for value in values):
        yield "the score is not a finite number"
    if values != again:
        yield "the same trials give different scores: a score must depend on nothing else"
    if values[-1] <= values[0]:
        yield f"all answers right give {values[-1]:g}, none right {values[0]:g}: more must be better"
    if book.digest != replace(book).digest:
        yield "the digest changes from one reading to the next"


def _parts(contest: Contest) -> Iterator[Finding]:
    for part, look in PARTS.items():
        if not contest.has(part):
            yield Finding(part, "", "not there")
            continue
        try:
            yield Finding(part, "", look(contest))
        except Exception as error:  # the same: what it raises is the finding
            yield Finding(part, f"{type(error).__name__}: {error}" if not isinstance(error, BadInput) else str(error))


def _protocol(contest: Contest) -> str:
    from bciarena.protocol import protocol_of, timelines

    book, sets = contest.rules, []
    for split in protocol_of(book).splits:
        block = timelines(book.id, split, blocks=1)[0]
        block.trigger()
        opened = sum(code in book.truth for _, code in block.events)
        if not opened:
            raise BadInput(f"set {split}: none of its codes opens a trial")
        if block.rate != book.rate:
            raise BadInput(f"set {split}: planned at {block.rate} Hz, the rulebook says {book.rate}")
        sets.append(f"{split}: {opened} trials in {block.duration_s:.0f} s")
    return ", ".join(sets)


def _brain(contest: Contest) -> str:
    from bciarena.simulator.brain import brain_of

    return f"against {brain_of(contest.rules).reference}"


def _example(contest: Contest) -> str:
    from bciarena.entries.tiny import tiny_recording
    from bciarena.referee import Truth

    recording = tiny_recording(contest.rules)
    trials = sum(len(spans) for _, _, spans in Truth.of(contest.rules, recording).blocks)
    return f"{trials} trials in {recording.seconds:.0f} s"


def _importing(contest: Contest) -> str:
    from bciarena.importing.meanings import meanings_of

    return f"{len(meanings_of(contest.rules).words)} words"


def _release(contest: Contest) -> str:
    from bciarena.protocol import protocol_of
    from bciarena.release import release_of

    sets = release_of(contest.rules).sets
    if unknown := sorted(set(sets) - set(protocol_of(contest.rules).splits)):
        raise BadInput(f"sets: {', '.join(unknown)}: the protocol has no such set")
    if "scored" not in sets.values():
        raise BadInput("sets: none of them is scored")
    return ", ".join(f"{name}: {role}" for name, role in sets.items())


def _audit(contest: Contest) -> str:
    from bciarena.audit.part import aspects_of

    book = contest.rules
    for name, told in aspects_of(book).items():
        if len({told(code) for code in book.opens} - {None}) < 2:
            raise BadInput(f"aspects: {name}: has fewer than two answers")
    return ", ".join(aspects_of(book))


def _report(contest: Contest) -> str:
    from bciarena.report.part import part_of

    part, known = part_of(contest.rules), set(contest.rules.score([]).metrics)
    if unknown := sorted(set(part.columns) - known):
        raise BadInput(f"columns: {', '.join(unknown)}: the score has no such metric ({', '.join(sorted(known))})")
    return f"{len(part.columns)} columns, {len(part.figures)} figures"


def _words(contest: Contest) -> str:
    unknown = [key for language in ("en", "zh") for key in contest.words[language].get("answers", {})]
    wrong = sorted(set(unknown) - set(contest.rules.vocabulary))
    if wrong:
        raise BadInput(f"[answers]: {', '.join(wrong[:5])}: not in the vocabulary")
    return f"{len(contest.words['en'])} entries"


def _entry(place: str) -> Callable[[Contest], str]:
    def look(contest: Contest) -> str:
        from bciarena.entries.discover import find_target

        return find_target(contest.folder / place, contest.rules)[0]

    return look


PARTS: dict[str, Callable[[Contest], str]] = {
    "protocol.py": _protocol,
    "brain.py": _brain,
    "example.py": _example,
    "importing.py": _importing,
    "release.py": _release,
    "audit.py": _audit,
    "report.py": _report,
    "words.en.toml": _words,
    "words.zh.toml": _words,
    "stage.js": lambda contest: f"{len((contest.folder / 'stage.js').read_text('utf-8').splitlines())} lines",
    "starter": _entry("starter"),
    "baseline": _entry("baseline"),
    "reference": _entry("reference"),
}
"""Every optional part, and how it is checked."""
