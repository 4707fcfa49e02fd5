"""Intervals cover, in short; the whole audit is `arena bench statistics`. Its model shares no code with the report."""

from __future__ import annotations

import pytest

from bciarena.bench.kept import KeptRows
from bciarena.bench.statistics import Audit, boards, coverage, new_people
from bciarena.contests import RULEBOOKS, rulebook


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda book: book.name)
@pytest.mark.parametrize(("world", "shape"), [("near perfect", (1, 1)), ("blocks differ", (1, 1))])
def test_few_blocks_are_covered(book, world, shape):
    """At a coverage of .93, five misses of 16 or more have a chance of 0.3 %; these cells are the hardest."""
    found = coverage(book, world, shape, runs=16, seed=5, sets=4)
    assert found["outside"] == 0
    for name in ("score", *book.score([]).metrics):
        assert found[name] >= 12 / 16, name


def test_new_people_are_covered():
    assert new_people(rulebook("imagery"), "usual", (4, 1), runs=16, seed=5)["score"] >= 12 / 16


def test_equal_teams_are_rarely_split_and_a_better_one_is_found():
    assert boards(rulebook("imagery"), "board", 4, 12, seed=5)["split"] <= 3 / 12
    assert boards(rulebook("imagery"), "board", 2, 6, seed=5, better=4.0)["told"] >= 4 / 6


def test_an_audit_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = (new_people, rulebook("imagery"), "usual", (3, 1))

    def audit(minutes, runs):
        return Audit(KeptRows(), lambda text: None, minutes, 5, runs, 4)

    assert audit(0, 4).cell(*asked) is None
    first = audit(1, 4).cell(*asked)
    assert audit(0, 4).cell(*asked) == first | {"stale": False, "code": audit(0, 4).code}
    assert audit(0, 5).cell(*asked) is None
