"""Bits per minute of each block, a rest included; unlike in later texts, an accuracy of one third scores 0."""

import numpy as np

from bciarena.contests.itr import itr
from bciarena.contests.scoring import Scoring, mean_over, pooled, ratio


class Imagery2022Score(Scoring):
    """ITR per block, its mean time including the rest, 0 where P <= 1/3; the mean over blocks."""

    def marks(self, rules, trial):
        return {"trials": 1, "correct": int(trial.correct), "length_n": trial.length_n or 0}

    def rates(self, rules, sums, weights, subject):
        trials, correct, length_n = sums["trials"], sums["correct"], sums["length_n"]
        classes = len(rules.vocabulary)
        bits = itr(ratio(correct, trials), classes, ratio(length_n, rules.rate * trials) + rules.constants["rest_s"])
        bits = np.where(classes * correct <= trials, 0.0, bits)
        every = pooled(trials, weights)
        return {
            "score": mean_over(bits, weights * (trials > 0)),
            "accuracy": ratio(pooled(correct, weights), every),
            "mean_length_s": ratio(pooled(length_n, weights), rules.rate * every),
        }
