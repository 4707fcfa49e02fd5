"""Bits per minute over flicker trials; with too many false alarms the score is 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from bciarena.contests.itr import itr
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.scoring import (
    Array,
    Scoring,
    Sums,
    example_trial,
    mean_exceeds,
    mean_over,
    mean_ratio,
    pooled,
    pooled_by,
    ratio,
    spread,
)
from bciarena.contests.trial import Trial


class SpellerScore(Scoring):
    """Mean of block ITRs over flicker trials; 0 when the mean FPR of the subjects is above the limit (R8, R9, R19)."""

    own = "itr"
    block_columns = ("accuracy", "mean_length_s", "fpr", "flicker")
    subject_columns = ("fpr",)
    hidden = frozenset({"flicker"})
    shares = frozenset({"accuracy", "fpr"})

    knobs = MappingProxyType({"accuracy": 0.9, "fpr": 0.05})

    def example(self, rules: Rulebook, shares: Mapping[str, float], length_n: int, count: int) -> list[Trial]:
        found = super().example(rules, shares, length_n, count)
        key = next(iter(rules.vocabulary))
        for index, alarm in enumerate(spread(shares["fpr"], count), count):
            still = example_trial(rules, index, "", key, 0)
            found.append(replace(still, answer=key if alarm else None, correct=not alarm, length_n=None,
                                 status="false_positive" if alarm else "quiet"))  # fmt: skip
        return found

    def marks(self, rules: Rulebook, trial: Trial) -> dict[str, int]:
        still = trial.status in ("false_positive", "quiet")
        return {
            "flicker": int(not still),
            "correct": int(trial.correct and not still),
            "length_n": trial.length_n or 0,
            "still": int(still),
            "alarms": int(trial.status == "false_positive"),
        }

    def rates(self, rules: Rulebook, sums: Sums, weights: Array, subject: Array) -> dict[str, Array]:
        flicker, correct = sums["flicker"], sums["correct"]
        bits = itr(ratio(correct, flicker), len(rules.vocabulary), ratio(sums["length_n"], rules.rate * flicker))
        rate = mean_over(bits, weights * (flicker > 0))
        alarms, still = pooled_by(sums["alarms"], weights, subject), pooled_by(sums["still"], weights, subject)
        every = pooled(flicker, weights)
        return {
            "score": np.where(mean_exceeds(alarms, still, rules.constants["fpr_limit"]), 0.0, rate),
            "itr": rate,
            "fpr": mean_ratio(alarms, still),
            "accuracy": ratio(pooled(correct, weights), every),
            "mean_length_s": ratio(pooled(sums["length_n"], weights), rules.rate * every),
            "flicker": every,
        }

    def notes(self, rules: Rulebook, rates: Mapping[str, Any], sums: Sums) -> list[str]:
        found = []
        if not sums["still"].any():
            found.append("no non-flicker trials in the data: FPR could not be measured and is given as 0")
        if not sums["flicker"].any():
            found.append("no flicker trials in the data: ITR could not be measured and is given as 0")
        if rates["itr"] > 0 and rates["score"] == 0:
            limit = float(rules.constants["fpr_limit"])
            found.append(f"mean FPR {rates['fpr']:.3f} is above {limit:.2f}: the score is 0")
        return found
