"""A MOABB evaluation that plays: the test recordings go to a pipeline packet by packet, rest between trials included.

A pipeline sees a sliding window and must tell by itself that nothing is going on. It is trained on windows of trials
and of rest, from the other runs of the session, or from the first half of the only one.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from moabb.evaluations.base import BaseEvaluation
from moabb.evaluations.splitters import WithinSessionSplitter
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from bciarena.contests.rulebook import Rulebook
from bciarena.inprocess import InProcess
from bciarena.moabb.streams import Windowed, block_of, rules_of
from bciarena.recording import Block, Recording, Subject
from bciarena.runs import run_match

COLUMNS = ("accuracy", "fpr", "mean_length_s", "n_rests")
"""What the results frame has besides MOABB's own columns."""
UNFIT = ("p300", "rstate")
"""Paradigms without trials that are answered one by one."""


class ArenaEvaluation(BaseEvaluation):  # type: ignore[misc]
    """Pseudo-online evaluation within sessions.

    The score is the mean of two shares: trials that got the right answer while they lasted, and rests that stayed
    quiet. The frame also has ``accuracy`` and ``fpr`` (the first share, and the rests with a false alarm),
    ``mean_length_s`` (data used until the answer) and ``n_rests``.

    Parameters
    ----------
    window_s : float, optional
        Length of the sliding window; default: half a trial.
    *args, **kwargs
        As of `moabb.evaluations.WithinSessionEvaluation`.
    """

    _eval_type = "Arena"

    def __init__(self, *args: Any, window_s: float | None = None, **kwargs: Any) -> None:
        self.window_s = window_s
        kwargs["additional_columns"] = [*(kwargs.get("additional_columns") or []), *COLUMNS]
        super().__init__(*args, **kwargs)
        if self.return_epochs or self.return_raws:
            raise ValueError("ArenaEvaluation plays arrays of samples: leave return_epochs and return_raws out")

    def is_valid(self, dataset: Any) -> bool:
        """Whether trials of the data set can be answered one by one."""
        return dataset.paradigm not in UNFIT

    def _get_incompatibility_reason(self, dataset: Any) -> str:
        return f"its paradigm is {dataset.paradigm}, whose trials are not answered one by one"

    def _create_splitter(self) -> Any:
        """MOABB asks whether there is one; the split itself is by runs, see `_folds`."""
        return WithinSessionSplitter(n_folds=2)

    def _evaluate_parallel_dataset(
        self,
        dataset: Any,
        pipelines: Any,
        param_grid: Any,
        process_pipeline: Any,
        postprocess_pipeline: Any = None,
        work_plan: Any = None,
    ) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        if work_plan is None:
            work_plan = {
                subject: self.results.not_yet_computed(pipelines, dataset, subject, process_pipeline)
                for subject in dataset.subject_list
            }
        for subject, wanted in work_plan.items():
            if not wanted:
                continue
            sessions = dataset.get_data(subjects=[subject])[subject]
            for session, runs in sessions.items():
                book = rules_of(dataset, self.paradigm, next(iter(runs.values())), "moabb/1")
                blocks = [
                    block_of(raw, dataset, self.paradigm, book, f"{dataset.code} {subject} {session} {name}")
                    for name, raw in runs.items()
                ]
                for name, pipeline in wanted.items():
                    grid = (param_grid or {}).get(name)
                    found.append(self._played(book, blocks, dataset, subject, session, name, pipeline, grid))
        return found

    def evaluate(
        self,
        dataset: Any,
        pipelines: Any,
        param_grid: Any,
        process_pipeline: Any,
        postprocess_pipeline: Any = None,
    ) -> Iterator[dict[str, Any]]:
        """Results of one data set."""
        yield from self._evaluate_parallel_dataset(dataset, pipelines, param_grid, process_pipeline)

    def _played(
        self,
        book: Rulebook,
        blocks: list[Block],
        dataset: Any,
        subject: Any,
        session: Any,
        name: str,
        pipeline: Any,
        grid: Any,
    ) -> dict[str, Any]:
        seconds = self.window_s or (book.limit_s or 2.0) / 2
        window_n = round(seconds * book.rate)
        to_rate = round(self.paradigm.resample or book.rate)
        spent_s, learnt, parts = 0.0, 0, []
        for train, test in _folds(blocks):
            inner = clone(pipeline) if grid is None else GridSearchCV(clone(pipeline), grid, cv=3)
            entry = Windowed(inner, list(self.paradigm.filters), book.rate, to_rate, window_n)
            began = perf_counter()
            learnt += entry.fit(train, book)
            spent_s += perf_counter() - began
            player = InProcess(entry)
            parts.append(
                run_match(book, Recording((Subject("S01", tuple(test)),)), player, clock="data", budget_s=math.inf)
            )
            if player.error is not None:
                raise player.error
        marks = [trial for part in parts for trial in part["trials"]]
        rests = sum(trial["status"] in ("quiet", "false_positive") for trial in marks)
        asked = len(marks) - rests
        shown = {
            metric: float(np.mean([part["metrics"][metric] for part in parts]))
            for metric in COLUMNS
            if metric != "n_rests"
        }
        result: dict[str, Any] = self._build_result(
            dataset,
            subject,
            session,
            name,
            learnt // len(parts),
            len(book.channels),
            spent_s / len(parts),
            n_rests=rests,
            **shown,
        )
        result["score"] = float(np.mean([part["score"] for part in parts]))
        result["n_samples_test"] = asked
        result["n_classes"] = len(book.vocabulary)
        return result


def _folds(blocks: list[Block]) -> Iterator[tuple[list[Block], list[Block]]]:
    """Each run is played by what was learnt from the others; a single one: its second half by what its first taught."""
    if len(blocks) > 1:
        for index, block in enumerate(blocks):
            yield blocks[:index] + blocks[index + 1 :], [block]
        return
    (block,) = blocks
    opened = np.flatnonzero(block.trigger)
    middle = int(opened[len(opened) // 2])
    halves = [
        Block(block.eeg[:, part], block.trigger[part], block.rate, block.channels, block.source)
        for part in (slice(0, middle), slice(middle, None))
    ]
    yield halves[:1], halves[1:]


def benchmark(**settings: Any) -> Any:
    """MOABB's own `benchmark`, with the same settings, in which recordings are played by `ArenaEvaluation`.

    MOABB's function knows three evaluations by name; here the first of them is ours, and the frame says so.
    """
    module = importlib.import_module("moabb.benchmark")
    with patch.object(module, "WithinSessionEvaluation", ArenaEvaluation):
        found = module.benchmark(**{**settings, "evaluations": ["WithinSession"]})
    found["evaluation"] = "Arena"
    return found
