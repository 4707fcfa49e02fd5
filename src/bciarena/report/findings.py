"""What a reader should know first, in sentences: where trials went wrong and for whom."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bciarena.contests import liveness, rehab
from bciarena.report import special
from bciarena.report.figures import outcome, subject_accuracy
from bciarena.report.kept import KeptRun
from bciarena.report.texts import Said, listed, said


def findings(run: KeptRun) -> list[Said]:
    """Sentences about a run, in every language; only those that say something about it."""
    if not run.trials:
        return []
    counts = Counter(map(outcome, run.trials))
    found = [said("say_outcomes", n=len(run.trials), counts=listed(dict(counts.most_common())))]
    people = subject_accuracy(run)
    ranked = sorted(people.items(), key=lambda item: item[1])
    if ranked and ranked[-1][1] - ranked[0][1] >= 0.01:
        (worst, worst_p), (best, best_p) = ranked[0], ranked[-1]
        found.append(said("say_people", best=best, best_p=best_p, worst=worst, worst_p=worst_p))
    found += {"speller": _speller, "turing": _turing, "liveness": _liveness, "rehab": _rehab}.get(
        run.book.name, _nothing
    )(run)
    if run.book.name != "liveness":
        found += _mistake(run)
    packet_s = run.book.packet_n / run.book.rate
    slow = int(np.count_nonzero(run.think_s > packet_s))
    if slow:
        found.append(said("say_slow", n=slow, m=run.think_s.size, ms=packet_s * 1e3))
    return found


def _nothing(run: KeptRun) -> list[Said]:
    return []


def _mistake(run: KeptRun) -> list[Said]:
    wrong = Counter(
        (t.truth, t.answer)
        for t in run.trials
        if t.status == "in_time" and not t.correct and t.answer in run.book.vocabulary
    )
    if not wrong or wrong.most_common(1)[0][1] < 2:
        return []
    (truth, answer), n = wrong.most_common(1)[0]
    return [said("say_mistake", truth=_named(run, truth), answer=_named(run, str(answer)), n=n)]


def _named(run: KeptRun, code: str) -> str:
    return f"{code} ({run.book.vocabulary[code]})"


def _speller(run: KeptRun) -> list[Said]:
    still = [t for t in run.trials if t.status in ("quiet", "false_positive")]
    alarms = sum(t.status == "false_positive" for t in still)
    return [said("say_alarms", n=alarms, m=len(still))] if still else []


def _turing(run: KeptRun) -> list[Said]:
    scores = [block["score"] for block in run.score["blocks"]]
    return [said("say_target", n=sum(score > 0 for score in scores), m=len(scores))]


def _liveness(run: KeptRun) -> list[Said]:
    groups = special.told_rightly(run)
    real = groups.pop("@real", [])
    fakes = [right for own in groups.values() for right in own]
    found = [said("say_real", n=real.count(False), m=len(real), k=fakes.count(False), j=len(fakes))]
    if len(groups) > 1:
        name = min(groups, key=lambda kind: float(np.mean(groups[kind])))
        found.append(said("say_generator", name=listed({name: ""}), p=float(np.mean(groups[name]))))
    wrong = sum(not liveness.subject_right(t) for t in run.trials)
    return [*found, said("say_person", n=wrong, m=len(run.trials))]


def _rehab(run: KeptRun) -> list[Said]:
    answered = [t for t in run.trials if t.status == "in_time"]
    sides = sum(not rehab.side_right(t) for t in answered)
    actions = sum(rehab.side_right(t) and not t.correct for t in answered)
    return [said("say_sides", n=sides, m=len(answered), k=actions)]
