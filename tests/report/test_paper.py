"""What a paper prints agrees with the runs, and LaTeX can read it."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.report.kept import KeptRun, open_run
from bciarena.report.paper import latex, latex_text, methods_text, table
from tests.report.made_up import as_score, made_up

BOOK = rulebook("rehab")
HEADER = {
    "data": "d" * 64,
    "rulebook": "r" * 64,
    "clock": "data",
    "versions": {"bciarena": "0.1.0", "numpy": "2", "python": "3"},
}


def kept(tmp_path, name, p, blocks=4, subjects=3) -> KeptRun:
    """A run folder with a score alone, of an entry with that accuracy."""
    folder = tmp_path / name
    folder.mkdir()
    made = made_up(BOOK, subjects, blocks, 20, p, 1.5, np.random.default_rng(int(100 * p)))
    score = as_score(BOOK, [replace(trial, truth="1") for trial in made])
    whole = score | {"reason": "", "sandbox": "bwrap, cgroup v2"}
    (folder / "score.json").write_text(json.dumps(whole))
    run = open_run(folder)
    run.header, run.about = HEADER, {"name": f"{name}_%"}
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("paper")
    return [kept(place, "poor", 0.3), kept(place, "good", 0.9), kept(place, "as_good", 0.91)]


def test_best_first_with_shared_ranks(runs):
    lines = table(runs)
    assert [line.run.score["score"] for line in lines] == sorted((run.score["score"] for run in runs), reverse=True)
    assert [(line.place.first, line.place.last) for line in lines] == [(1, 2), (1, 2), (3, 3)]
    text = latex_text(lines, "en")
    assert text.count("1--2 &") == 2
    assert "3 &" in text
    assert "cannot be told from the best of them" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_is_sound_latex(runs, language):
    text = latex_text(table(runs), language)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    width = len(re.search(r"tabular}{(\w+)}", text)[1])
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {width}
    assert r"good\_\%" in text
    assert text.count("{") == text.count("}")


def test_too_few_blocks_are_mentioned(tmp_path):
    lines = table([kept(tmp_path, "one", 0.9, blocks=1, subjects=2), kept(tmp_path, "two", 0.85, blocks=1, subjects=2)])
    assert "too few blocks" in latex_text(lines, "en")
    assert "fewer than three blocks" in methods_text(lines, "en")


def test_the_paragraph_follows_what_was_done(runs):
    lines = table(runs)
    said = methods_text(lines, "en")
    assert f"3 people, 12 blocks and {len(runs[0].trials)} trials" in said
    assert "Computing time was not measured" in said
    assert "Every entry ran in a sandbox" in said
    lines[1].run.score["sandbox"] = "none"
    assert "Not every entry" in methods_text(lines, "en")
    assert "Ranks come" not in methods_text(lines[:1], "en")


def test_special_characters_are_escaped():
    assert latex("a_b & 5 % {x} \\ ~") == r"a\_b \& 5 \% \{x\} \textbackslash{} \textasciitilde{}"


def test_the_command_writes_what_it_cites(runs, tmp_path, capsys):
    out = tmp_path / "paper"
    assert main(["paper", str(runs[0].folder), "-o", str(out)]) == 0
    cited = set(re.findall(r"\\cite{([\w,]+)}", (out / "methods.tex").read_text()))
    keys = set(re.findall(r"@\w+{(\w+)", (out / "references.bib").read_text()))
    assert keys == {key for group in cited for key in group.split(",")}
    (row,) = csv.DictReader((out / "results.csv").read_text().splitlines())
    assert float(row["score_low"]) <= float(row["score"]) <= float(row["score_high"])
    assert main(["paper", str(runs[0].folder), "-o", str(out), "--force", "--language", "xx"]) == 2
    assert "--language xx" in capsys.readouterr().err
