"""The bounded part: the kept corpus and a few hundred changes of it, the same in every run. See `long.py` for more."""

from __future__ import annotations

import random
import time
import warnings
from pathlib import Path

import pytest

from tests.fuzz.mutate import mutated
from tests.fuzz.targets import COSTLY, TARGETS

CORPUS = Path(__file__).parent / "corpus"
INPUTS = 300
SLOW_S = 5.0


def test_every_target_has_a_corpus():
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_readers_refuse_or_read(name):
    kept = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    draw = random.Random(name)
    inputs = INPUTS // max(1, COSTLY.get(name, 1) // 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a strange file may well be worth a warning
        for raw in [b"", *kept, *(mutated(draw.choice(kept), draw) for _ in range(inputs))]:
            began = time.process_time()
            try:
                TARGETS[name](raw)
            except Exception as error:
                raise AssertionError(f"{name}: {type(error).__name__}: {error} for {raw[:300]!r}") from error
            assert time.process_time() - began < SLOW_S, raw[:300]
