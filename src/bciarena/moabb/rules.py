"""Rules for recordings of any data set: trials with rest between them, and nothing in the stream tells them apart."""

from __future__ import annotations

from collections.abc import Mapping

from bciarena.contests.rulebook import Rule, Rulebook, build, mask
from bciarena.contests.scoring import Array, Scoring, Sums, pooled, ratio
from bciarena.contests.trial import Trial

REST = 100
"""Code of the rest between trials, in which nothing must be reported."""
PACKET_S = 0.04


class PseudoScore(Scoring):
    """The mean of two shares: of trials that were answered rightly, and of rests that were left quiet."""

    block_columns = ("accuracy", "fpr", "mean_length_s")
    shares = frozenset({"score", "accuracy", "fpr"})

    def marks(self, rules: Rulebook, trial: Trial) -> dict[str, int]:
        rest = trial.status in ("quiet", "false_positive")
        return {
            "trials": int(not rest),
            "correct": int(trial.correct and not rest),
            "rests": int(rest),
            "alarms": int(trial.status == "false_positive"),
            "length_n": 0 if rest else trial.length_n or 0,
        }

    def rates(self, rules: Rulebook, sums: Sums, weights: Array, subject: Array) -> dict[str, Array]:
        trials, rests = pooled(sums["trials"], weights), pooled(sums["rests"], weights)
        right = ratio(pooled(sums["correct"], weights), trials)
        alarms = ratio(pooled(sums["alarms"], weights), rests)
        quiet = (1 - alarms) * (rests > 0)
        return {
            "score": ratio(right * (trials > 0) + quiet, (trials > 0) * 1.0 + (rests > 0)),
            "accuracy": right,
            "fpr": alarms,
            "mean_length_s": ratio(pooled(sums["length_n"], weights), rules.rate * trials),
        }


def pseudo_rules(
    name: str, title: str, channels: tuple[str, ...], rate: int, classes: Mapping[int, str], seconds: float
) -> Rulebook:
    """The rules of a data set played pseudo-online.

    Parameters
    ----------
    name : str
        With its version: ``bnci/1``.
    classes : mapping of int to str
        The code of each class, and its name.
    seconds : float
        How long a trial lasts.
    """
    truth = {code: str(code) for code in classes} | {REST: "0"}
    return build(
        Rule("id", name, "chosen here"),
        Rule("title", title, "the data set's name"),
        Rule("title_zh", title, "数据集的名称"),
        Rule("channels", channels, "as recorded"),
        Rule("rate", rate, "as recorded"),
        Rule("packet_n", max(1, round(PACKET_S * rate)), "40 ms a packet, as near as whole samples allow"),
        Rule("truth", truth, f"the data set's classes; {REST}: the rest after a trial"),
        Rule("idle", frozenset({REST}), "in the rest nothing is to be reported"),
        Rule("mask", mask(dict.fromkeys(truth, 0)), "the stream does not tell when a trial begins"),
        Rule("masked", frozenset(), "nothing stands where the truth was"),
        Rule("vocabulary", {str(code): text for code, text in classes.items()}, "the code of a class"),
        Rule("answers", "integer", "the code of a class"),
        Rule("limit_s", seconds, "while the trial lasts"),
        Rule("limit_covers_thinking", False, "data, not computing"),
        Rule("missing_s", seconds, "no report: wrong, the whole trial"),
        Rule("closing", None, "rest, or the next trial, ends a trial"),
        Rule("decides", "first", "the first report of a trial counts"),
        Rule("scoring", PseudoScore(), "trials right and rests quiet count the same"),
        Rule("unit", "share", "between 0 and 1"),
        Rule("shard", None, "shares are pooled"),
        Rule("names_subject", True, "subjects are numbered"),
        Rule("finish", "flag", "on the last packet"),
        Rule("dialect", "D", "a plain class"),
        Rule("python", "", "any"),
        Rule("classes", ("Entry",), "what a contestant writes"),
    )
