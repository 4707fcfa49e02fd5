"""What a reader should know first, in sentences: where trials went wrong and for whom."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bciarena.contests import contest
from bciarena.report.figures import outcome, person_of, subject_accuracy
from bciarena.report.kept import KeptRun
from bciarena.report.part import part_of
from bciarena.report.statistics import bias_of
from bciarena.report.texts import Said, listed, said
from bciarena.words import LANGUAGES


def findings(run: KeptRun) -> list[Said]:
    """Sentences about a run, in every language; only those that say something about it."""
    if not run.trials:
        return []
    counts = Counter(map(outcome, run.trials))
    found = [said(run.book, "say_outcomes", n=len(run.trials), counts=listed(run.book, dict(counts.most_common())))]
    people = subject_accuracy(run)
    ranked = sorted(people.items(), key=lambda item: item[1])
    if ranked and ranked[-1][1] - ranked[0][1] >= 0.01:
        (worst, worst_p), (best, best_p) = ranked[0], ranked[-1]
        names = {"best": person_of(run, best), "worst": person_of(run, worst)}
        found.append(said(run.book, "say_people", **names, best_p=best_p, worst_p=worst_p))
    own = part_of(run.book)
    if own.findings:
        found += own.findings(run)
    if own.mistakes:
        found += _mistake(run)
    bias = bias_of(run.book, run.trials)
    if bias is not None:
        if bias.excess > 0.005 * float(run.score["score"]) > 0:  # of a void score no part is due to anything
            found.append(said(run.book, "say_bias", excess=bias.excess))
        found.append(said(run.book, "say_guess", guess=bias.guess))
    packet_s = run.book.packet_n / run.book.rate
    slow = int(np.count_nonzero(run.think_s > packet_s))
    if slow:
        found.append(said(run.book, "say_slow", n=slow, m=run.think_s.size, ms=packet_s * 1e3))
    return found


def _mistake(run: KeptRun) -> list[Said]:
    wrong = Counter(
        (t.truth, t.answer)
        for t in run.trials
        if t.status == "in_time" and not t.correct and t.answer in run.book.vocabulary
    )
    if not wrong or wrong.most_common(1)[0][1] < 2:
        return []
    (truth, answer), n = wrong.most_common(1)[0]
    return [said(run.book, "say_mistake", truth=_named(run, truth), answer=_named(run, str(answer)), n=n)]


def _named(run: KeptRun, answer: str) -> Said:
    own = contest(run.book)
    return {language: f"{answer} ({own.answers(language)[answer]})" for language in LANGUAGES}
