"""The reference load: told against the machine's best, which is kept for a while."""

from __future__ import annotations

import os
import time

import pytest

from bciarena import clocks
from bciarena.cli import main
from bciarena.errors import BadInput


def test_the_best_is_kept_and_a_slower_moment_is_told_against_it(tmp_path, monkeypatch):
    first = clocks.reference_load(tmp_path)
    (kept,) = tmp_path.iterdir()
    assert float(kept.read_text()) == first.best_s <= first.took_s
    monkeypatch.setattr(clocks, "piece_s", lambda: first.best_s / clocks.PIECES * 3)
    slow = clocks.reference_load(tmp_path)
    assert slow.best_s == first.best_s
    assert slow.times == pytest.approx(3)
    monkeypatch.setattr(clocks, "piece_s", lambda: first.best_s / clocks.PIECES / 2)
    assert clocks.reference_load(tmp_path).best_s == pytest.approx(first.best_s / 2)
    assert float(kept.read_text()) == pytest.approx(first.best_s / 2)


@pytest.mark.parametrize("damage", ["old", "text", "negative", "nan"])
def test_a_best_that_says_nothing_is_replaced(tmp_path, damage):
    clocks.reference_load(tmp_path)
    (kept,) = tmp_path.iterdir()
    kept.write_text({"text": "quick", "negative": "-1", "nan": "nan"}.get(damage, "1e-9"))
    if damage == "old":
        past = time.time() - clocks.BEST_KEPT_S - 1
        os.utime(kept, (past, past))
    now = clocks.reference_load(tmp_path)
    assert 1 <= now.times < 1000
    assert float(kept.read_text()) == now.best_s


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path):
    (tmp_path / "file").write_text("")
    assert clocks.reference_load(tmp_path / "file" / "cache").times >= 1


@pytest.mark.parametrize("text", ["0.5", "much", "nan"])
def test_a_factor_that_makes_no_sense_is_refused(monkeypatch, text):
    monkeypatch.setenv(clocks.VARIABLE, text)
    with pytest.raises(BadInput, match=f"ARENA_DISTURBED={text}"):
        clocks.disturbed_factor()
    assert main(["worker"]) == 2  # at its start, before anything is trained
