"""Whether a bundle is what it says: its files, its rules, its score and, with the data, its truth and its reports.

A bundle comes from a stranger. Nothing in it is run, unless asked for: the score is recomputed by the score code of
this installation, if its rulebook has the digest that stands in the ledger. The entry is played in a box.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bciarena.bundles.crate import METADATA, digests_in, files_of, sha256
from bciarena.bundles.making import ENTRY, HOW, MODEL, How
from bciarena.bundles.rules import bundled_rules, differing, known_rules
from bciarena.bundles.truth import read_truth
from bciarena.contests.rulebook import Rulebook
from bciarena.entries.archive import unpack
from bciarena.entries.layout import contained
from bciarena.entries.opened import opened
from bciarena.errors import BadInput
from bciarena.plaintext import one_line
from bciarena.recording import Recording, open_recording
from bciarena.referee import Truth
from bciarena.runs import RunFolder, score_of
from bciarena.runs.folder import LedgerLines
from bciarena.runs.shape import parsed, problem, read_text
from bciarena.scratch import scratch

SAME = ("subject", "block", "position", "packet", "value")
"""What of a report must be the same when an entry is played again; computing time is not."""


@dataclass
class Findings:
    """What was checked and holds, what differs, and what could not be checked."""

    holds: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {"holds": self.holds, "differs": self.differs, "unchecked": self.unchecked}


def is_bundle(path: Path) -> bool:
    """Whether a file is a zip with the metadata of a crate."""
    try:
        with zipfile.ZipFile(path) as archive:
            return METADATA in archive.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError):
        return False


def verify_bundle(
    path: Path,
    *,
    data: Path | None = None,
    entry: str | None = None,
    model: Path | None = None,
    trust_rules: bool = False,
) -> Findings:
    """Check a bundle.

    Parameters
    ----------
    data : Path, optional
        The recordings: the truth is compared with them, and the entry is played again.
    entry, model : optional
        What to play, where the bundle does not have it.
    trust_rules : bool
        Score with the bundle's own code, in this process, where this installation does not know the rules.
    """
    with scratch() as folder:
        unpack(path, folder)
        found = Findings()
        _files(folder, found)
        if not (folder / "run").is_dir():
            raise BadInput(f"{path}: has no run/; it is a crate of something else")
        ledger = RunFolder(folder / "run").ledger()
        book = _rules(folder, ledger, trust_rules, found)
        if book is None:
            found.unchecked.append("score: not recomputed without the rules")
            return found
        truth = read_truth(folder, book)
        _score(folder, book, truth, ledger, found)
        if data is None:
            found.unchecked.append("data: not given; with --data DIR the truth is compared and the entry played again")
            return found
        recording = open_recording(data)
        if _data(book, recording, truth, ledger, found):
            _replay(folder, book, recording, ledger, entry, model, found)
        return found


def _files(folder: Path, found: Findings) -> None:
    said, here = digests_in(folder), files_of(folder)
    wrong = [f"file: {one_line(name, 200)} is missing" for name in sorted(said.keys() - here.keys())]
    wrong += [f"file: {one_line(name, 200)} is not in the metadata" for name in sorted(here.keys() - said.keys())]
    for name in sorted(said.keys() & here.keys()):
        if sha256(here[name]) != said[name]:
            wrong.append(f"file: {one_line(name, 200)} was changed: its sha256 is not the one in {METADATA}")
    found.differs += wrong
    if not wrong:
        found.holds.append(f"files: {len(here)}, each with the sha256 that {METADATA} says")


def _rules(folder: Path, ledger: LedgerLines, trusted: bool, found: Findings) -> Rulebook | None:
    challenge, digest = ledger.header["challenge"], ledger.header["rulebook"]
    book = known_rules(challenge, digest)
    if book is not None:
        found.holds.append(f"rules: {challenge} of this installation has the ledger's digest {digest[:12]}")
        if others := differing(folder, book):
            found.unchecked.append(
                f"rules: the text of {', '.join(others)} differs from ours, which was used and has the same digest"
            )
        return book
    if trusted:
        book = bundled_rules(folder, challenge, digest)
        found.holds.append(f"rules: the bundle's own code was run; its rulebook has the ledger's digest {digest[:12]}")
        return book
    found.unchecked.append(
        f"rules: {one_line(challenge, 60)} with digest {digest[:12]} is not known here; name its contest folder with "
        "--challenge DIR, or run the bundle's own score code with --trust-rules"
    )
    return None


def _score(folder: Path, book: Rulebook, truth: Truth, ledger: LedgerLines, found: Findings) -> None:
    if ledger.end is None:
        found.differs.append("score: the ledger has no end line")
        return
    stored = RunFolder(folder / "run").score()
    again = json.loads(json.dumps(score_of(book, truth, ledger.reports, ledger.end)))
    if again == stored:
        found.holds.append(f"score: {again['score']:.6g} {book.unit}, recomputed from ledger and truth")
        return
    if again["score"] != stored["score"]:
        found.differs.append(f"score: {stored['score']!r} is stored, ledger and truth give {again['score']!r}")
    for key in sorted(again.keys() - {"score", "trials"}):
        if again[key] != stored.get(key):
            found.differs.append(f"score: {key} is not what ledger and truth give")
    pairs = zip(again["trials"], stored["trials"], strict=False)
    wrong = [one for one, kept in pairs if one != kept]
    if len(again["trials"]) != len(stored["trials"]):
        found.differs.append(f"score: {len(stored['trials'])} trials are stored, the truth has {len(again['trials'])}")
    elif wrong:
        where = "subject {subject} block {block} trial {trial}".format(**wrong[0])
        found.differs.append(f"score: {len(wrong)} trials are not what ledger and truth give, the first: {where}")


def _data(book: Rulebook, recording: Recording, truth: Truth, ledger: LedgerLines, found: Findings) -> bool:
    if recording.digest != ledger.header["data"]:
        found.differs.append("data: the recordings given are not those of the ledger: their digest differs")
        return False
    if Truth.of(book, recording) != truth:
        found.differs.append("truth: truth.json is not what the recordings say")
        return False
    found.holds.append(f"data: has the ledger's digest {recording.digest[:12]}, and the truth that was scored")
    return True


def _replay(
    folder: Path,
    book: Rulebook,
    recording: Recording,
    ledger: LedgerLines,
    entry: str | None,
    model: Path | None,
    found: Findings,
) -> None:
    how = _how(folder)
    own = entry is None
    spec = entry or how["spec"]
    if own and not spec.startswith("@"):
        if not (folder / ENTRY).is_dir():
            found.unchecked.append("replay: the bundle has no entry; name it with --entry")
            return
        file, _, name = how["class"].rpartition(":")
        place = contained(folder / ENTRY, file) if how["module"] else folder / ENTRY
        spec = f"{place}:{name}" if how["module"] else str(place)
    if model is None and (folder / MODEL).is_dir():
        model = folder / MODEL
    if how["needs_model"] and model is None:
        found.unchecked.append("replay: the run had a trained model, which the bundle lacks; name it with --model")
        return
    named = how["class"] if own and spec == str(folder / ENTRY) else None
    with opened(spec, book, entry=named, python=how["python"] or None, model=model) as ready:
        if ready.package.digest != ledger.header["entry"]:
            found.differs.append("replay: the entry at hand is not the one of the ledger: its digest differs")
            return
        with scratch() as work:
            out = work / "run"
            ready.run(recording, out=out, clock=ledger.header["clock"], seed=ledger.header["seed"])
            again = RunFolder(out).ledger()
    _same_reports(ledger, again, found)


def _how(folder: Path) -> How:
    try:
        how: How = parsed(read_text(folder / HOW))
    except (OSError, ValueError) as error:
        raise BadInput(f"{HOW}: is missing or damaged ({type(error).__name__})") from error
    if wrong := problem(how, How):
        raise BadInput(f"{HOW}: is damaged ({wrong})")
    return how


def _same_reports(ledger: LedgerLines, again: LedgerLines, found: Findings) -> None:
    one, two = ([{key: line[key] for key in SAME} for line in each.reports] for each in (ledger, again))  # type: ignore[literal-required]
    verdicts = [each.end["verdict"] if each.end else "" for each in (ledger, again)]
    if one == two and verdicts[0] == verdicts[1]:
        found.holds.append(f"replay: played again in a box, the same {len(one)} reports at the same samples")
        return
    if verdicts[0] != verdicts[1]:
        found.differs.append(f"replay: ended with {verdicts[1]}, the ledger says {verdicts[0]}")
    if one != two:
        at = next(
            (n for n, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), min(len(one), len(two))
        )
        found.differs.append(
            f"replay: the reports differ from number {at + 1} on ({len(one)} in the ledger, {len(two)} now); the "
            "ledger was changed, or the entry does not answer the same every time"
        )
