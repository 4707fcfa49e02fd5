"""A run's trials as sums per block, so that thousands of reweighted scores are a few matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from bciarena.contests import liveness, rehab
from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Trial, by_block

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tally:
    """One number per unit (a block, or a single trial) and quantity; shape (units,) each."""

    whole: bool  # whether each unit is a whole block, so that its own score means something
    subject: NDArray[np.int64]
    block: NDArray[np.int64]  # which block, counted over the run
    score: Floats  # the unit's own score by the rules
    trials: Floats  # trials that count for accuracy
    correct: Floats
    seconds: Floats  # lengths that entered the score
    still: Floats  # non-flicker trials
    alarms: Floats
    real: Floats
    whose: Floats
    side: Floats
    passed: Floats

    def joined(self, other: Tally) -> Tally:
        """Both runs' units one after the other."""
        names = [item.name for item in fields(self)][1:]
        return Tally(self.whole, *(np.concatenate([getattr(self, n), getattr(other, n)]) for n in names))


def tally(book: Rulebook, trials: Sequence[Trial], whole: bool = True) -> Tally:
    """Sum up a run by blocks, or by single trials when not ``whole``."""
    groups = by_block(trials)
    units = [own for _, _, own in groups] if whole else [[trial] for trial in trials]
    order = {(subject, block): index for index, (subject, block, _) in enumerate(groups)}
    rows = []
    for own in units:
        result = book.score(own)
        counted = [t for t in result.trials if t.length_n is not None]
        rows.append(
            (
                result.metrics.get("itr", result.score) if book.name == "speller" else result.score,
                len(counted),
                sum(t.correct for t in counted),
                sum(t.length_s or 0.0 for t in counted),
                sum(t.status in ("quiet", "false_positive") for t in own),
                sum(t.status == "false_positive" for t in own),
                sum(map(liveness.real_right, own)) if book.name == "liveness" else 0,
                sum(map(liveness.subject_right, own)) if book.name == "liveness" else 0,
                sum(map(rehab.side_right, own)) if book.name == "rehab" else 0,
                result.metrics.get("blocks_passed", 0),
            )
        )
    columns = np.array(rows, dtype=np.float64).T if rows else np.zeros((10, 0))
    subject = np.array([own[0].subject for own in units], dtype=np.int64)
    block = np.array([order[own[0].subject, own[0].block] for own in units], dtype=np.int64)
    return Tally(whole, subject, block, *columns)


def bits_per_minute(p: Floats, classes: int, seconds: Floats) -> Floats:
    """challenges.itr.itr for arrays."""
    with np.errstate(divide="ignore", invalid="ignore"):
        right = np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0.0)
        wrong = np.where(p < 1, (1 - p) * np.log2(np.where(p < 1, (1 - p) / (classes - 1), 1)), 0.0)
        rate = 60 * (np.log2(classes) + right + wrong) / seconds
    return np.where((p < 1 / classes) | (seconds <= 0), 0.0, np.maximum(rate, 0.0))


def combine(book: Rulebook, sums: Tally, weights: Floats) -> dict[str, Floats]:
    """Score and metrics under weights of the units.

    Parameters
    ----------
    weights : ndarray, shape (draws, units)
        How often each unit counts; a row of ones gives the run's own numbers.

    Returns
    -------
    dict of str to ndarray, shape (draws,)
    """
    trials, correct, seconds = weights @ sums.trials, weights @ sums.correct, weights @ sums.seconds
    p, mean_s = _ratio(correct, trials), _ratio(seconds, trials)
    result = {"accuracy": p, "mean_length_s": mean_s}
    if book.name == "rehab":
        total = weights @ sums.score
        result |= {"score": total, "total": total, "mean_points": _ratio(total, trials)}
        result |= {"side_accuracy": _ratio(weights @ sums.side, trials), "itr": bits_per_minute(p, 4, mean_s)}
    elif book.name == "liveness":
        real, whose = _ratio(weights @ sums.real, trials), _ratio(weights @ sums.whose, trials)
        itr_real, itr_subject = bits_per_minute(real, 2, mean_s), bits_per_minute(whose, 23, mean_s)
        result = {"itr_real": itr_real, "itr_subject": itr_subject, "accuracy_real": real, "accuracy_subject": whose}
        result |= {"mean_length_s": mean_s, "score": 0.9 * itr_real + 0.1 * itr_subject}
    else:
        result["score"] = _mean_of_blocks(book, sums, weights)
        if book.name == "turing":
            result["blocks_passed"] = weights @ sums.passed
        if book.name == "speller":
            result["itr"] = result["score"]
            result["fpr"] = _fpr(sums, weights)
            result["score"] = np.where(result["fpr"] > 0.1 + 1e-12, 0.0, result["itr"])
    return result


def _mean_of_blocks(book: Rulebook, sums: Tally, weights: Floats) -> Floats:
    if sums.whole:
        used = weights * (sums.trials > 0)
        return _ratio(used @ sums.score, used.sum(axis=1))
    classes, rest_s = (3, 0.5) if book.name == "imagery" else (40, 0.0)
    scores, count = np.zeros(weights.shape[0]), np.zeros(weights.shape[0])
    for block in np.unique(sums.block):
        own = weights * (sums.block == block)
        n = own @ sums.trials
        rate = bits_per_minute(_ratio(own @ sums.correct, n), classes, _ratio(own @ sums.seconds, n) + rest_s)
        scores += np.where(n > 0, rate, 0.0)
        count += n > 0
    return _ratio(scores, count)


def _fpr(sums: Tally, weights: Floats) -> Floats:
    rates, people = np.zeros(weights.shape[0]), np.zeros(weights.shape[0])
    for subject in np.unique(sums.subject):
        own = weights * (sums.subject == subject)
        still = own @ sums.still
        rates += _ratio(own @ sums.alarms, still)
        people += still > 0
    return _ratio(rates, people)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
