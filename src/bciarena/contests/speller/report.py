"""What only a report about the speller says: keys, and false alarms."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bciarena.contests import contest
from bciarena.contests.speller.rules import FREQUENCY_HZ, KEYS
from bciarena.contests.trial import Trial
from bciarena.report.figures import Figure
from bciarena.report.kept import KeptRun
from bciarena.report.part import Part
from bciarena.report.statistics import block_sd
from bciarena.report.texts import Said, said

HIT_RATE = [[0, "#d1495b"], [0.5, "#f4e7b0"], [1, "#2a9d6f"]]
"""Colours of a hit rate of 0, 0.5 and 1."""


def key_map(run: KeptRun) -> Figure:
    """The keyboard, coloured by hit rate; false alarms of idle trials are written into the key they named."""
    names = [contest(run.book).answers("en")[str(k)] for k in range(1, KEYS + 1)]
    hits: dict[str, list[bool]] = defaultdict(list)
    alarms: dict[str, int] = defaultdict(int)
    for trial in run.trials:
        if trial.length_n is not None:
            hits[trial.truth].append(trial.correct)
        elif trial.status == "false_positive" and trial.answer:
            alarms[trial.answer] += 1
    rate = [np.mean(hits[str(k)]) if hits[str(k)] else None for k in range(1, KEYS + 1)]
    text = [
        f"{names[k]}<br>{FREQUENCY_HZ[k]:g} Hz" + (f"<br>⚠{alarms[str(k + 1)]}" if alarms[str(k + 1)] else "")
        for k in range(KEYS)
    ]
    grid = [rate[row * 10 : row * 10 + 10] for row in range(4)]
    heat: dict[str, Any] = {"type": "heatmap", "z": grid, "text": [text[row * 10 : row * 10 + 10] for row in range(4)]}
    heat |= {"texttemplate": "%{text}", "colorscale": HIT_RATE, "zmin": 0, "zmax": 1, "xgap": 3, "ygap": 3}
    axis = {"visible": False}
    layout = {"xaxis": axis, "yaxis": axis | {"autorange": "reversed"}, "height": 420}
    worst = (
        min((r, names[k]) for k, r in enumerate(rate) if r is not None) if any(r is not None for r in rate) else None
    )
    n = sum(alarms.values())
    alt = said(run.book, "alt_keys", rate=worst[0], key=worst[1], n=n) if worst else said(run.book, "alt_alarms", n=n)
    return Figure("key_map", [heat], layout, alt)


def findings(run: KeptRun) -> list[Said]:
    """False alarms, and how likely the true rate is above the limit."""
    still = [t for t in run.trials if t.status in ("quiet", "false_positive")]
    if not still:
        return []
    limit = float(run.book.constants["fpr_limit"])
    alarms = sum(t.status == "false_positive" for t in still)
    sd = block_sd(len({(t.subject, t.block) for t in run.trials}))
    p = chance_above(limit, still, sd)
    return [
        said(run.book, "say_alarms", n=alarms, m=len(still), limit=limit),
        said(run.book, "say_above", p="< 0.01" if p < 0.005 else f"{p:.2f}", limit=limit, sd=sd),
    ]


def chance_above(limit: float, still: list[Trial], sd: float, draws: int = 20_000) -> float:
    """Probability that the mean of the people's true false-alarm rates is above the limit.

    The rate in the blocks recorded has the posterior of Jeffreys' prior, Beta(alarms + 1/2, quiet + 1/2), for every
    person; these blocks are off the person's true rate by what blocks differ (``sd``, log odds).
    """
    rng = np.random.default_rng(0)
    rates = []
    for person in dict.fromkeys(trial.subject for trial in still):
        own = [trial for trial in still if trial.subject == person]
        alarms, blocks = sum(t.status == "false_positive" for t in own), len({t.block for t in own})
        here = rng.beta(alarms + 0.5, len(own) - alarms + 0.5, draws)
        rates.append(expit(logit(here) + sd / blocks**0.5 * rng.standard_normal(draws)))
    return float(np.mean(np.mean(rates, axis=0) > limit))


REPORT = Part(
    columns=("itr", "fpr", "accuracy", "mean_length_s"),
    channels=("Pz", "PO5", "POz", "PO6", "O1", "Oz", "O2", "Fpz"),
    figures=(key_map,),
    findings=findings,
)
