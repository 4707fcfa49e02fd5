"""Two rates over all trials together: real or generated, and whose."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bciarena.contests.itr import itr
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.scoring import Array, Scoring, Sums, example_trial, pooled, ratio, spread
from bciarena.contests.trial import Trial


def real_right(rules: Rulebook, trial: Trial) -> bool:
    """Whether real/generated is right, in time."""
    return _part_right(rules, trial, slice(0, 1))


def subject_right(rules: Rulebook, trial: Trial) -> bool:
    """Whether the subject is right, in time."""
    return _part_right(rules, trial, slice(1, None))


def _part_right(rules: Rulebook, trial: Trial, part: slice) -> bool:
    # An invalid answer is wrong in every respect, so only answers of the vocabulary count (R16).
    valid = trial.status == "in_time" and trial.answer in rules.vocabulary
    return valid and trial.answer is not None and trial.answer[part] == trial.truth[part]


class LivenessScore(Scoring):
    """0.9 ITR(real or generated) + 0.1 ITR(whose), over all trials together (R10b)."""

    block_columns = ("accuracy", "itr_real", "itr_subject", "accuracy_real", "accuracy_subject", "mean_length_s")
    hidden = frozenset({"accuracy"})
    shares = frozenset({"accuracy", "accuracy_real", "accuracy_subject"})
    decided_by = MappingProxyType(
        {
            "score": "real",
            "itr_real": "real",
            "accuracy_real": "real",
            "itr_subject": "whose",
            "accuracy_subject": "whose",
        }
    )

    knobs = MappingProxyType({"accuracy_real": 0.9, "accuracy_subject": 0.5})

    def example(self, rules: Rulebook, shares: Mapping[str, float], length_n: int, count: int) -> list[Trial]:
        people = [word[1:] for word in rules.vocabulary if word[0] == "0"]
        real = spread(shares["accuracy_real"], count)
        whose = spread(shares["accuracy_subject"], count)
        found = []
        for index in range(count):
            truth = str(index % 2) + people[index % len(people)]
            kind = truth[0] if real[index] else str(1 - index % 2)
            person = truth[1:] if whose[index] else people[(index + 1) % len(people)]
            found.append(example_trial(rules, index, truth, kind + person, length_n))
        return found

    def marks(self, rules: Rulebook, trial: Trial) -> dict[str, int]:
        return {
            "trials": 1,
            "correct": int(trial.correct),
            "real": int(real_right(rules, trial)),
            "whose": int(subject_right(rules, trial)),
            "length_n": trial.length_n or 0,
        }

    def rates(self, rules: Rulebook, sums: Sums, weights: Array, subject: Array) -> dict[str, Array]:
        trials = pooled(sums["trials"], weights)
        real = ratio(pooled(sums["real"], weights), trials)
        whose = ratio(pooled(sums["whose"], weights), trials)
        mean_length_s = ratio(pooled(sums["length_n"], weights), rules.rate * trials)
        itr_real, itr_subject = itr(real, 2, mean_length_s), itr(whose, rules.constants["people"], mean_length_s)
        return {
            "score": rules.constants["weight_real"] * itr_real + rules.constants["weight_subject"] * itr_subject,
            "accuracy": ratio(pooled(sums["correct"], weights), trials),
            "itr_real": itr_real,
            "itr_subject": itr_subject,
            "accuracy_real": real,
            "accuracy_subject": whose,
            "mean_length_s": mean_length_s,
        }
