"""Intervals cover, in short; the whole audit is `arena bench statistics`. Its model shares no code with the report."""

from __future__ import annotations

import pytest

from bciarena.bench.statistics import LEVELS, coverage, false_splits, new_people
from bciarena.contests import RULEBOOKS, rulebook


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda book: book.name)
@pytest.mark.parametrize(("level", "shape"), [("near perfect", (1, 1)), ("usual", (1, 2))])
def test_few_blocks_are_covered(book, level, shape):
    """At a coverage of .93, five misses of 16 or more have a chance of 0.3 %; these cells are the hardest."""
    found = coverage(book, LEVELS[level], shape, runs=16, seed=5, sets=2, truths=40)
    assert found["score"] >= 12 / 16
    assert min(found.values()) >= 12 / 16


def test_new_people_are_covered():
    assert new_people(rulebook("imagery"), LEVELS["usual"], (4, 1), runs=16, seed=5) >= 12 / 16


def test_equal_teams_are_rarely_split():
    assert false_splits(rulebook("imagery"), 4, (3, 2), boards=12, seed=5) <= 3 / 12
