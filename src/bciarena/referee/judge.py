"""From ledger to score: a pure function of rulebook, truth and reports."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.spans import check_form, trial_spans
from bciarena.contests.trial import Score, Status, Trial, TrialSpan
from bciarena.recording.model import Recording
from bciarena.referee.answers import answer_text

Report = Mapping[str, Any]
NOTES_MOST = 200


@dataclass(frozen=True)
class Truth:
    """Where every trial of a recording is and what the subject did. Never leaves the referee."""

    blocks: tuple[tuple[int, int, tuple[TrialSpan, ...]], ...]

    @classmethod
    def of(cls, rulebook: Rulebook, recording: Recording) -> Truth:
        check_form(rulebook, recording)
        return cls(tuple((s, b, trial_spans(rulebook, block)) for s, b, block in recording))


def judge(rulebook: Rulebook, truth: Truth, reports: Iterable[Report]) -> Score:
    """Judge every trial and score the run."""
    by_block: dict[tuple[int, int], list[Report]] = defaultdict(list)
    for report in reports:
        by_block[report["subject"], report["block"]].append(report)
    trials: list[Trial] = []
    notes: list[str] = []
    for subject, block, spans in truth.blocks:
        starts = [span.data_start for span in spans]
        own: list[list[Report]] = [[] for _ in spans]
        for report in by_block.get((subject, block), []):
            index = bisect_left(starts, report["position"]) - 1  # the last trial with data_start < position
            if index < 0:
                notes.append(f"{_where(report)}: before the first trial's data, belongs to no trial and is ignored")
            else:
                own[index].append(report)
        for number, (span, made) in enumerate(zip(spans, own, strict=True), 1):
            blank = Trial(
                subject, block, number, rulebook.truth[span.code], None, False, None, "missing", rulebook.rate
            )
            trials.append(_judge_trial(rulebook, span, made, blank, notes))
    if len(notes) > NOTES_MOST:  # an entry that reports with every packet would fill pages with the same line
        notes[NOTES_MOST:] = [f"and {len(notes) - NOTES_MOST} more notes like these"]
    left_out = [trial for trial in trials if trial.status == "invalid"]
    score = rulebook.score([trial for trial in trials if trial.status != "invalid"])
    shown = sorted(score.trials + left_out, key=lambda trial: (trial.subject, trial.block, trial.trial))
    return replace(score, trials=shown, notes=notes + score.notes)


def _judge_trial(rulebook: Rulebook, span: TrialSpan, reports: list[Report], blank: Trial, notes: list[str]) -> Trial:
    if span.invalid:
        where = f"subject {blank.subject} block {blank.block} trial {blank.trial}"
        notes.append(f"{where} is invalid and left out: {span.invalid}")
        return replace(
            blank, status="invalid", answer=answer_text(rulebook, reports[0]["value"])[0] if reports else None
        )
    idle = span.code in rulebook.idle
    if not reports:
        if idle:
            return replace(blank, status="quiet", correct=True)
        return replace(blank, length_n=_missing_n(rulebook, span))
    if rulebook.repeat_is_violation:
        notes += [
            f"{_where(report)}: a second report in trial {blank.trial}; only one is allowed" for report in reports[1:]
        ]
    for report in reports:
        text, valid = answer_text(rulebook, report["value"])
        if not valid:
            notes.append(f"{_where(report)}: {text!r} is not a valid answer")
    report = _deciding(rulebook, reports)
    text, valid = answer_text(rulebook, report["value"])
    if idle:
        return replace(blank, status="false_positive", answer=text)
    used_n = _used_n(rulebook, span, report)
    late = _late(rulebook, span, report)
    status: Status = "late" if late else "in_time"
    if late and rulebook.late_answer is not None:
        text = rulebook.late_answer
    return replace(
        blank,
        answer=text,
        correct=valid and not late and text == blank.truth,
        length_n=max(used_n, round(rulebook.floor_s * rulebook.rate)),
        status=status,
    )


def _deciding(rulebook: Rulebook, reports: list[Report]) -> Report:
    """The report that counts: the first of the trial, or the last of those that came first after their packet."""
    if rulebook.decides == "first":
        return reports[0]
    last = reports[-1]["position"]
    return next(report for report in reports if report["position"] == last)


def _late(rulebook: Rulebook, span: TrialSpan, report: Report) -> bool:
    position = report["position"]
    if span.closed_end is not None and position > span.closed_end:
        return True
    if rulebook.limit_s is None:
        return False
    used_n = _used_n(rulebook, span, report)
    behind_n = report["think_s"] * rulebook.rate if rulebook.limit_covers_thinking else 0
    return bool(used_n + behind_n >= rulebook.limit_s * rulebook.rate)  # limits are exclusive (R2)


def _used_n(rulebook: Rulebook, span: TrialSpan, report: Report) -> int:
    """Samples used: from the packet after the opening code's (R1), or from that code where the rules say so."""
    return int(report["position"]) - (span.data_start if rulebook.counts_from == "packet" else span.opened)


def _missing_n(rulebook: Rulebook, span: TrialSpan) -> int:
    if rulebook.missing_s is not None:
        return round(rulebook.missing_s * rulebook.rate)
    assert span.closed is not None  # the rulebook has a closing code, so every span has one
    return span.closed - span.opened


def _where(report: Report) -> str:
    return f"report at subject {report['subject']} block {report['block']} sample {report['position']}"
