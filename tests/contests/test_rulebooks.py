"""The rulebooks as data."""

from __future__ import annotations

import pytest

from bciarena.contests import RULEBOOKS, rulebook
from bciarena.errors import BadInput


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
def test_every_field_has_its_clause(book):
    import dataclasses

    names = {f.name for f in dataclasses.fields(book)} - {"clauses", "constants"} | set(book.constants)
    assert set(book.clauses) == names
    assert all(len(clause) > 4 for clause in book.clauses.values())


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
def test_tables_fit_together(book):
    assert len(book.mask) == 256
    assert set(book.truth.values()) - {str(c) for c in book.idle} <= set(book.vocabulary)
    assert not book.opens & book.masked
    assert len(set(book.channels)) == len(book.channels) == {"liveness": 5, "rehab": 77}.get(book.name, 64)


def test_names_with_and_without_version():
    assert rulebook("imagery") is rulebook("imagery/1")
    with pytest.raises(BadInput, match=r"unknown challenge 'chess': choose one of imagery/1, liveness/1"):
        rulebook("chess")
    with pytest.raises(BadInput, match="unknown challenge 'imagery/9'"):
        rulebook("imagery/9")


def test_digests_are_pinned():
    """A changed reading is a new id, never a silent edit: whoever changes a rule must meet this test."""
    pinned = {
        "imagery/1": "1633f88ae7b38899",
        "liveness/1": "d0d2e104d0c25bdd",
        "rehab/1": "8cfce1767c8d4c6f",
        "speller/1": "cf404ae0ebd20367",
        "turing/1": "ad04b3ef72f021d5",
    }
    assert {book.id: book.digest[:16] for book in RULEBOOKS.values()} == pinned


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda b: b.name)
def test_every_constant_of_the_score_enters_the_digest(book):
    from dataclasses import replace

    for name, value in book.constants.items():
        other = replace(book, constants=book.constants | {name: value * 2})
        assert other.digest != book.digest, name


@pytest.mark.parametrize("name", ["imagery", "liveness", "rehab", "speller", "turing"])
def test_the_code_that_scores_enters_the_digest_by_its_results(name, monkeypatch):
    from dataclasses import replace
    from importlib import import_module

    book = rulebook(name)
    module = import_module(f"bciarena.contests.{name}.score")
    assert replace(book).digest == book.digest
    part = "ratio" if name == "turing" else "itr"
    own = getattr(module, part)
    monkeypatch.setattr(module, part, lambda *given: own(*given) * 1.0001)
    assert replace(book).digest != book.digest


def test_turing_table_2():
    from bciarena.contests.turing.rules import BEHAVIOURS, TASKS

    moves = {"left": {1, 3}, "right": {2, 4}, "pass": {5}, "shoot": {6}}
    for one, two, tasks in BEHAVIOURS.values():
        assert set(tasks) - {7} == moves[one] | moves[two] or {one, two} >= {"shoot"}
        assert set(tasks) <= set(TASKS)
    assert BEHAVIOURS[6][2] == (6, 3, 1, 7)  # shoot, left: Shoot-SSVEP, Left-SSVEP, Left-MI, Idle


def test_speller_table_1():
    from math import pi

    from bciarena.contests.speller.rules import FREQUENCY_HZ, PHASE_RAD

    assert FREQUENCY_HZ[0] == 8
    assert FREQUENCY_HZ[-1] == 15.8
    assert (FREQUENCY_HZ[23], PHASE_RAD[23]) == (12.6, 1.5 * pi)
    assert (FREQUENCY_HZ[10], PHASE_RAD[10]) == (10.0, pi)


def test_the_rules_page_is_made_from_the_code():
    from pathlib import Path

    from bciarena.contests.page import rules_page

    page = Path(__file__).resolve().parents[2] / "docs" / "rules.md"
    assert page.read_text("utf-8") == rules_page(), "run: arena challenges --markdown > docs/rules.md"
