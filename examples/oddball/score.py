"""What a person who spells would feel: right lights less wrong ones, per minute."""

import numpy as np

from bciarena.contests.scoring import Scoring, mean_ratio, pooled, pooled_by, ratio


class OddballScore(Scoring):
    """Right lights less a penalty for wrong ones, per minute with pauses, never below 0; the mean over people."""

    def marks(self, rules, trial):
        wrong = trial.answer is not None and not trial.correct
        return {"trials": 1, "correct": int(trial.correct), "wrong": int(wrong), "length_n": trial.length_n or 0}

    def rates(self, rules, sums, weights, subject):
        pause_n = round(rules.constants["pause_s"] * rules.rate)
        gained = pooled_by(sums["correct"] - rules.constants["penalty"] * sums["wrong"], weights, subject)
        spent_n = pooled_by(sums["length_n"] + pause_n * sums["trials"], weights, subject)
        every = pooled(sums["trials"], weights)
        return {
            "score": mean_ratio(60 * rules.rate * np.maximum(gained, 0), spent_n),
            "accuracy": ratio(pooled(sums["correct"], weights), every),
            "mean_length_s": ratio(pooled(sums["length_n"], weights), rules.rate * every),
        }
