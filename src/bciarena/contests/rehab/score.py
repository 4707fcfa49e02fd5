"""Points for every trial: all for the exact class, some for the right side."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bciarena.contests.itr import itr
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.scoring import Array, Scoring, Sums, example_trial, neighbours, pooled, ratio, spread
from bciarena.contests.trial import Trial

SIDE = {"1": "left", "2": "right", "3": "left", "4": "right"}


def side_right(trial: Trial) -> bool:
    """Whether the answer came in time and names the right hand."""
    return trial.status == "in_time" and trial.answer is not None and SIDE.get(trial.answer) == SIDE[trial.truth]


class RehabScore(Scoring):
    """Sum of the points of all trials; the ITR is shown beside it and has no influence (R11)."""

    shares = frozenset({"accuracy", "side_accuracy"})
    decided_by = MappingProxyType({"side_accuracy": "side"})
    knobs = MappingProxyType({"accuracy": 0.6, "side_accuracy": 0.8})

    def marks(self, rules: Rulebook, trial: Trial) -> dict[str, int]:
        side = side_right(trial)
        part = rules.constants["side_points"] if side else 0
        return {
            "trials": 1,
            "correct": int(trial.correct),
            "side": int(side),
            "points": rules.constants["exact_points"] if trial.correct else part,
            "length_n": trial.length_n or 0,
        }

    def example(self, rules: Rulebook, shares: Mapping[str, float], length_n: int, count: int) -> list[Trial]:
        exact = spread(shares["accuracy"], count)
        near = iter(spread(max(shares["side_accuracy"] - sum(exact) / count, 0) * count / max(count - sum(exact), 1),
                           count - sum(exact)))  # fmt: skip
        found = []
        for index, right in enumerate(exact):
            truth, _ = neighbours(rules, index)
            same = [word for word in SIDE if SIDE[word] == SIDE[truth] and word != truth]
            other = [word for word in SIDE if SIDE[word] != SIDE[truth]]
            answer = truth if right else (same if next(near) else other)[0]
            found.append(example_trial(rules, index, truth, answer, length_n))
        return found

    def rates(self, rules: Rulebook, sums: Sums, weights: Array, subject: Array) -> dict[str, Array]:
        trials, total = pooled(sums["trials"], weights), pooled(sums["points"], weights)
        accuracy = ratio(pooled(sums["correct"], weights), trials)
        mean_length_s = ratio(pooled(sums["length_n"], weights), rules.rate * trials)
        return {
            "score": total,
            "total": total,
            "mean_points": ratio(total, trials),
            "accuracy": accuracy,
            "side_accuracy": ratio(pooled(sums["side"], weights), trials),
            "itr": itr(accuracy, len(rules.vocabulary), mean_length_s),
            "mean_length_s": mean_length_s,
        }
