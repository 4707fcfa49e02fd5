"""Correct answers per second until most of a block is right; a block that never gets there is worth nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.scoring import Array, Scoring, Sums, mean_over, pooled, ratio
from bciarena.contests.trial import Trial


class TuringScore(Scoring):
    """S = K N / L, N = ceil(0.8 n) right answers in the L seconds it took, wrong trials included (R7)."""

    block_columns = ("accuracy", "mean_length_s", "passed")
    hidden = frozenset({"passed"})

    def marks(self, rules: Rulebook, trial: Trial) -> dict[str, int]:
        return {"trials": 1, "correct": int(trial.correct), "length_n": trial.length_n or 0}

    def block(self, rules: Rulebook, marks: Mapping[str, Array]) -> dict[str, Array]:
        """A block's trials up to the one that reaches the target; all of them where none does."""
        right, used_n = np.cumsum(marks["correct"], axis=-1), np.cumsum(marks["length_n"], axis=-1)
        size = right.shape[-1]
        if not size:
            nothing = np.zeros(right.shape[:-1], dtype=np.int64)
            return {"blocks": nothing, "trials": nothing, "correct": nothing, "length_n": nothing, "passed": nothing}
        goal = target(rules, size)
        reached = right >= goal
        stop = np.where(reached.any(axis=-1), reached.argmax(axis=-1), size - 1)[..., None]
        return {
            "blocks": np.ones(right.shape[:-1], dtype=np.int64),
            "trials": stop[..., 0] + 1,
            "correct": np.take_along_axis(right, stop, axis=-1)[..., 0],
            "length_n": np.take_along_axis(used_n, stop, axis=-1)[..., 0],
            "passed": reached.any(axis=-1).astype(np.int64),
        }

    def rates(self, rules: Rulebook, sums: Sums, weights: Array, subject: Array) -> dict[str, Array]:
        each = ratio(rules.constants["coefficient"] * sums["correct"] * rules.rate, sums["length_n"]) * sums["passed"]
        trials, passed = pooled(sums["trials"], weights), pooled(sums["passed"], weights)
        return {
            "score": mean_over(each, weights),
            "accuracy": ratio(pooled(sums["correct"], weights), trials),
            "mean_length_s": ratio(pooled(sums["length_n"], weights), rules.rate * trials),
            "blocks_passed": passed,
            "passed": passed > 0,
        }

    def restated(self, rules: Rulebook, own: Sequence[Trial]) -> list[Trial]:
        """Trials after the target are shown but not scored."""
        stop = int(self.block(rules, self.marks_of(rules, own))["trials"])
        return [*own[:stop], *(replace(trial, status="after_target", length_n=None) for trial in own[stop:])]


def target(rules: Rulebook, trials: int) -> int:
    """The number of right answers that passes a block of ``trials`` trials."""
    share = rules.constants["target"]
    return int(-(-share.numerator * trials // share.denominator))  # rounded up, in whole numbers
