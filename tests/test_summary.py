"""The line that explains a score: in both languages, loud where it must be, the same wherever a run is told of."""

from __future__ import annotations

from pathlib import Path
from string import Formatter

import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.inprocess import play
from bciarena.report.page import render
from bciarena.report.texts import SUMMARY, explained
from bciarena.summary import ENGLISH, summary, tally
from tests.making import write_folder


def result(*statuses: str, correct: bool = True, notes: tuple[str, ...] = ()) -> dict:
    answers = {"missing": None, "quiet": None}
    rows = [{"status": one, "correct": correct, "answer": answers.get(one, "201")} for one in statuses]
    return {"trials": rows, "notes": list(notes)}


def test_the_same_words_in_both_languages() -> None:
    def places(text: str) -> set[str | None]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert SUMMARY["zh"].keys() == ENGLISH.keys()
    assert {key: places(text) for key, text in SUMMARY["zh"].items()} == {k: places(v) for k, v in ENGLISH.items()}
    said = explained(tally(result("in_time", "false_positive", "quiet"), 4, 1.25, 60.0, 2.5))
    assert said["en"] == (
        "4 reports in 3 trials: 1 right, 0 wrong, 0 late, 0 missing, 1 false alarms, 1 rightly silent; "
        "computing 1.2 s of 60 s of data, 2.5 s in all"
    )
    assert said["zh"] == (
        "3 个试次中报告 4 次：正确 1，错误 0，超时 0，未报告 0，误报 1，正确静默 1；"
        "数据 60 秒，计算 1.2 秒，全程 2.5 秒"
    )


@pytest.mark.parametrize(
    ("found", "loud"),
    [
        (result("missing", "missing", "quiet"), "NOTHING WAS REPORTED: 0 reports in 3 trials"),
        (result("late", "late", "quiet", correct=False), "ALL ANSWERS CAME TOO LATE: 2 reports"),
        (result("in_time", correct=False, notes=("'x' is not a valid answer",)), "NO ANSWER WAS VALID: 1 report in 1"),
        (result("in_time", "late"), "2 reports in 2 trials: 1 right, 0 wrong, 1 late, 0 missing"),
    ],
    ids=["nothing", "late", "invalid", "quietly"],
)
def test_loud_where_it_must_be(found: dict, loud: str) -> None:
    assert summary(tally(found)).startswith(loud)


class Left:
    def step(self, packet):
        return 201 if packet.number in (90, 180) else None


def test_a_kept_run_is_explained_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By arena score, on stderr beside JSON, and on the run page."""
    data, run = write_folder(rulebook("imagery"), tmp_path / "data", [(2500, {500: 201, 1500: 202})]), tmp_path / "run"
    played = play(Left(), "imagery", data, out=run).summary
    assert played.startswith("2 reports in 2 trials: 1 right, 1 wrong, 0 late, 0 missing; computing ")
    assert main(["score", str(run)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == played
    assert main(["score", str(run), "--json"]) == 0
    assert capsys.readouterr().err.strip() == f"arena: {played}"
    assert played in render(run)
