"""Tells a contestant before upload what would go wrong: looks the entry over, plays it, and reads the ledger."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bciarena.contests.rulebook import Rulebook
from bciarena.entries.missing import missing
from bciarena.entries.requirements import libraries, read_requirements
from bciarena.entries.static import look_over
from bciarena.entries.tiny import strict_recording
from bciarena.errors import EntryFailed
from bciarena.match import Progress
from bciarena.recording import Recording
from bciarena.referee import Truth, answer_text
from bciarena.runs import Result, RunFolder
from bciarena.runs.schema import ReportLine, TrialRow
from bciarena.sandbox.box import Sandbox
from bciarena.verdicts import MEANING, Verdict
from bciarena.writing import whole_file

WARM_UP = 25  # packets: loading a model on first use is no sign of slowness
CHATTY_BYTES = 64 << 10  # printed in the few minutes that are played


@dataclass
class Checkup:
    """What was found: ``problems`` would cost the score, ``warnings`` may not; ``played`` if it came to playing."""

    challenge: str
    target: str = ""
    dialect: str = ""
    python: str = ""
    trials: int = 0
    reports: int = 0
    busy_share: float = 0.0
    played: bool = False
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    usable: list[str] = field(default_factory=list)


def check(
    spec: str,
    rulebook: Rulebook,
    *,
    entry: str | None = None,
    python: str | None = None,
    image: str | None = None,
    requirements: Path | None = None,
    model: Path | None = None,
    sandbox: Sandbox = "bwrap",
    on_progress: Callable[[Progress], None] | None = None,
) -> Checkup:
    """Look an entry over, play it on a few minutes of made-up data, in the box, and say what would go wrong.

    Problems that can be seen without playing are listed all at once, and the entry is then not played. BadInput is
    raised for what is not an entry at all; everything an entry itself does wrong is among the problems.
    """
    from bciarena.entries.opened import opened

    found = Checkup(rulebook.id)
    try:
        with (
            opened(
                spec,
                rulebook,
                entry=entry,
                python=python,
                image=image,
                requirements=requirements,
                sandbox=sandbox,
                model=model,
                problems=found.problems,
            ) as ready,
            tempfile.TemporaryDirectory() as place,
        ):
            found.target, found.dialect = ready.package.target, ready.package.dialect
            asked = ready.package.requirements
            found.usable = list(map(str, read_requirements(asked, ready.package.root).packages)) if asked else []
            found.warnings += ready.package.warnings
            problems, warnings = look_over(ready.package, listed=requirements is not None)
            found.problems += problems
            found.warnings += warnings
            if found.problems:
                return found
            found.python = ready.interpreter.version
            found.missing = missing(ready.package, ready.interpreter)
            found.warnings += ready.interpreter.warnings
            run, recording = Path(place) / "run", strict_recording(rulebook)
            result = ready.run(recording, out=run, on_progress=on_progress)
            found.played = True
            _read(found, rulebook, recording, RunFolder(run), result)
    except EntryFailed as error:
        found.problems.append(_explained(error.verdict, error.reason, found.missing))
    return found


def _explained(verdict: Verdict, reason: str, lacking: dict[str, str]) -> str:
    absent = re.search(r"No module named '([\w.]+)'", reason)
    if absent:
        first = absent[1].split(".")[0]
        brings: dict[str, str] = {first: libraries()["modules"].get(first, first), **lacking}
        hint = (
            f"Its Python has no module {', '.join(brings)}: put {', '.join(brings.values())} into requirements.txt "
            "(arena check --fix writes such a file), or the module into the entry."
        )
    else:
        hint = MEANING[verdict]
    return f"{verdict}: {reason.strip()}\n{hint}".strip()


def write_list(spec: str, found: Checkup) -> Path:
    """Write what an entry needs to a list beside its package, never into it; for ``--requirements``."""
    before, colon, name = spec.rpartition(":")
    source = Path(before if colon and name.isidentifier() else spec).resolve()
    stem = source.name
    for ending in (".tar.gz", ".tgz", ".zip", ".py"):
        stem = stem.removesuffix(ending)
    target = source.with_name(f"{stem}-requirements.txt")
    lines = [*found.usable, *(line for line in dict.fromkeys(found.missing.values()) if line not in found.usable)]
    with whole_file(target) as beside:
        beside.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return target


def _read(found: Checkup, rulebook: Rulebook, recording: Recording, run: RunFolder, result: Result) -> None:
    reports, truth = run.ledger().reports, Truth.of(rulebook, recording)
    spans = [span for _, _, own in truth.blocks for span in own]
    trials = [trial for trial, span in zip(result["trials"], spans, strict=True) if span.stop > span.data_start]
    found.trials, found.reports = len(trials), len(reports)
    if result["verdict"] != "ok":
        found.problems.append(_explained(result["verdict"], result["reason"], found.missing))
    elif not reports:
        found.problems.append(
            f"It never reported in {found.trials} trials: each would count as wrong. Does it wait for a code that the "
            f"stream does not have? {_codes(rulebook)}"
        )
    if not _reports_too_early(found, rulebook, truth, reports):  # else its consequences would only confuse
        _read_trials(found, rulebook, trials, result["verdict"])
        _read_beginnings(found, truth, reports)
    _read_answers(found, rulebook, reports)
    _read_clock(found, rulebook, run)
    for note in result["notes"]:
        if note.startswith("after the finish flag"):
            found.problems.append(f"It must leave run by itself when the finish flag is true; {note}.")
    printed = run.printed_bytes()
    if result["verdict"] == "ok" and printed > CHATTY_BYTES:
        minutes = recording.seconds / 60
        found.warnings.append(
            f"It prints {printed >> 10} KiB in {minutes:.1f} minutes of data: at most 1 MiB is kept of a run, and "
            "printing takes time."
        )


def _reports_too_early(found: Checkup, rulebook: Rulebook, truth: Truth, reports: list[ReportLine]) -> bool:
    """Whether it reports in trigger packets, in a challenge whose stream has them."""
    if not any(rulebook.mask[code] for code in rulebook.opens):
        return False
    starts = {(subject, block, span.data_start) for subject, block, spans in truth.blocks for span in spans}
    early = sum((line["subject"], line["block"], line["position"]) in starts for line in reports)
    if early:
        found.problems.append(
            f"{early} of {len(reports)} reports came right after the packet that holds the trigger: that packet still "
            "belongs to the trial before. Ask for at least one more packet before reporting."
        )
    return bool(early)


def _read_beginnings(found: Checkup, truth: Truth, reports: list[ReportLine]) -> None:
    """Whether answers are carried over from one block to the next.

    An entry that also reports before the very first trial reports at any time, which costs nothing. Neither do reports
    after the block that breaks off within a packet: nobody can answer its trial in time.
    """
    placed = [(line["subject"], line["block"], line["position"]) for line in reports]
    early = [
        sum(at <= spans[0].data_start for *where, at in placed if where == [subject, block])
        for subject, block, spans in truth.blocks
    ]
    whole = [any(span.stop > span.data_start for span in spans) for _, _, spans in truth.blocks]
    carried = sum(count for count, before in zip(early[1:], whole, strict=False) if before)
    if carried and not early[0]:
        found.warnings.append(
            f"{carried} of {len(reports)} reports came before the first trial of a block and count for nothing: they "
            "answer the previous block. Start afresh where a block begins (position 0)."
        )


def _read_answers(found: Checkup, rulebook: Rulebook, reports: list[ReportLine]) -> None:
    invalid = [line["value"] for line in reports if not answer_text(rulebook, line["value"])[1]]
    if invalid:
        shown = ", ".join(sorted({json.dumps(value)[:40] for value in invalid})[:3])
        words = list(rulebook.vocabulary)
        listed = ", ".join(words) if len(words) < 9 else f"{words[0]} ... {words[-1]}"
        kind = "an integer" if rulebook.answers == "integer" else "a text"
        found.problems.append(
            f"{len(invalid)} of {len(reports)} reports are not valid answers (such as {shown}); "
            f"an answer is {kind}, one of {listed}."
        )


def _codes(rulebook: Rulebook) -> str:
    """What marks a trial in the stream."""
    marks = sorted({rulebook.mask[code] for code in rulebook.opens} - {0})
    if not marks:
        return "In this challenge nothing marks a trial."
    return f"Trials begin with {', '.join(map(str, marks[:12]))}{' ...' * (len(marks) > 12)} in the last row."


def _read_trials(found: Checkup, rulebook: Rulebook, trials: list[TrialRow], verdict: Verdict) -> None:
    count = [trial["status"] for trial in trials].count
    if count("late"):
        limit = f"under {rulebook.limit_s:g} s of data" if rulebook.limit_s else "up to the packet with code 241"
        found.problems.append(f"{count('late')} of {found.trials} answers came too late: a trial may use {limit}.")
    if found.reports and verdict == "ok" and count("missing") and not rulebook.idle:
        found.warnings.append(f"{count('missing')} of {found.trials} trials got no answer: they count as wrong.")


def _read_clock(found: Checkup, rulebook: Rulebook, run: RunFolder) -> None:
    """Computing time against the duration of the data."""
    think_s = run.think_s()[WARM_UP:]
    if not len(think_s):
        return
    found.busy_share = float(think_s.sum() / (len(think_s) * rulebook.packet_n / rulebook.rate))
    if found.busy_share > 1:
        found.problems.append(
            f"It is too slow: it computes {found.busy_share:.1f} times as long as the data last, and a run may take "
            "only as long as its data."
        )
    elif found.busy_share > 0.5:
        found.warnings.append(f"It computes {found.busy_share:.0%} of the time: a slower machine may be too slow.")
