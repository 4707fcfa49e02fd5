"""Bits per minute of each block, with no pause added to the time of an answer; the mean over blocks."""

from bciarena.contests.itr import itr
from bciarena.contests.scoring import Scoring, mean_over, pooled, ratio


class SsvepScore(Scoring):
    """ITR per block with the mean data length alone; the mean over blocks."""

    def marks(self, rules, trial):
        return {"trials": 1, "correct": int(trial.correct), "length_n": trial.length_n or 0}

    def rates(self, rules, sums, weights, subject):
        trials, correct, length_n = sums["trials"], sums["correct"], sums["length_n"]
        bits = itr(ratio(correct, trials), len(rules.vocabulary), ratio(length_n, rules.rate * trials))
        every = pooled(trials, weights)
        return {
            "score": mean_over(bits, weights * (trials > 0)),
            "accuracy": ratio(pooled(correct, weights), every),
            "mean_length_s": ratio(pooled(length_n, weights), rules.rate * every),
        }
