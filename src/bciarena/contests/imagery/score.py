"""Bits per minute of each block, with a simulated rest after every answer; the mean over blocks."""

from __future__ import annotations

from bciarena.contests.itr import itr
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.scoring import Array, Scoring, Sums, mean_over, pooled, ratio
from bciarena.contests.trial import Trial


class ImageryScore(Scoring):
    """ITR per block, its mean time including the rest; the mean over blocks (R12, R19)."""

    def marks(self, rules: Rulebook, trial: Trial) -> dict[str, int]:
        return {"trials": 1, "correct": int(trial.correct), "length_n": trial.length_n or 0}

    def rates(self, rules: Rulebook, sums: Sums, weights: Array, subject: Array) -> dict[str, Array]:
        trials, correct = sums["trials"], sums["correct"]
        used_s = ratio(sums["length_n"], rules.rate * trials)
        bits = itr(ratio(correct, trials), len(rules.vocabulary), used_s + rules.constants["rest_s"])
        every = pooled(trials, weights)
        return {
            "score": mean_over(bits, weights * (trials > 0)),
            "accuracy": ratio(pooled(correct, weights), every),
            "mean_length_s": ratio(pooled(sums["length_n"], weights), rules.rate * every),
        }
