"""How trials become a score: what each contributes, and the score made from the sums of blocks."""

from bciarena.contests.itr import itr
from bciarena.contests.scoring import Scoring, mean_over, pooled, ratio


class Score(Scoring):
    """Bits per minute of each block, with a pause after every answer; the mean over blocks."""

    def marks(self, rules, trial):
        return {"trials": 1, "correct": int(trial.correct), "length_n": trial.length_n or 0}

    def rates(self, rules, sums, weights, subject):
        trials, correct, length_n = sums["trials"], sums["correct"], sums["length_n"]
        used_s = ratio(length_n, rules.rate * trials)
        bits = itr(ratio(correct, trials), len(rules.vocabulary), used_s + rules.constants["rest_s"])
        every = pooled(trials, weights)
        return {
            "score": mean_over(bits, weights * (trials > 0)),
            "accuracy": ratio(pooled(correct, weights), every),
            "mean_length_s": ratio(pooled(length_n, weights), rules.rate * every),
        }
