"""Balanced accuracy: the share of right windows of each class, averaged over the classes that a stream has."""

from bciarena.contests.scoring import Scoring, mean_over, pooled, ratio


class StreamScore(Scoring):
    """Balanced accuracy of every stream; the mean over streams."""

    block_columns = ("accuracy",)
    shares = frozenset({"score", "accuracy"})

    def marks(self, rules, trial):
        marks = {"windows": 1, "correct": int(trial.correct)}
        for answer in rules.vocabulary:
            marks[f"of_{answer}"] = int(trial.truth == answer)
            marks[f"right_{answer}"] = int(trial.truth == answer and trial.correct)
        return marks

    def rates(self, rules, sums, weights, subject):
        shares = sum(ratio(sums[f"right_{answer}"], sums[f"of_{answer}"]) for answer in rules.vocabulary)
        classes = sum((sums[f"of_{answer}"] > 0) * 1 for answer in rules.vocabulary)
        return {
            "score": mean_over(ratio(shares, classes), weights * (classes > 0)),
            "accuracy": ratio(pooled(sums["correct"], weights), pooled(sums["windows"], weights)),
        }
