"""Judged trials of made-up entries."""

from __future__ import annotations

import numpy as np

from bciarena.contests.trial import Trial


def made_up(book, subjects, blocks, trials, p, seconds, rng, spread=0.0):
    """Trials of an entry with accuracy ``p``, varying from block to block by ``spread``."""
    codes = sorted(book.opens - book.forbidden)
    out = []
    for s in range(1, subjects + 1):
        for b in range(1, blocks + 1):
            own_p = np.clip(p + spread * rng.standard_normal(), 0, 1)
            for t in range(1, trials + 1):
                code = codes[rng.integers(len(codes))]
                truth = book.truth[code]
                if code in book.idle:
                    alarm = bool(rng.random() < 0.02)
                    status = "false_positive" if alarm else "quiet"
                    out.append(Trial(s, b, t, truth, "1" if alarm else None, not alarm, None, status, book.rate))
                    continue
                right = bool(rng.random() < own_p)
                wrong = [v for v in book.vocabulary if v != truth]
                answer = truth if right else wrong[rng.integers(len(wrong))]
                length = max(1, round((seconds + 0.2 * rng.standard_normal()) * book.rate))
                out.append(Trial(s, b, t, truth, answer, right, length, "in_time", book.rate))
    return out


def as_score(book, trials):
    """What score.json holds of them, as far as statistics need it."""
    result = book.score(trials)
    return {
        "challenge": book.id,
        "verdict": "ok",
        "score": result.score,
        "unit": book.unit,
        "metrics": result.metrics,
        "subjects": result.subjects,
        "blocks": result.blocks,
        "trials": [t.as_json() for t in result.trials],
        "notes": [],
    }
