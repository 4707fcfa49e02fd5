"""The page in a real browser, on good runs and on damaged ones."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from typer.testing import CliRunner

from bciarena.cli import main as arena
from bciarena.contests import CONTESTS, RULEBOOKS, contest, rulebook
from bciarena.inprocess import play
from bciarena.report.figures import all_figures
from bciarena.report.insight import alternatives
from bciarena.report.kept import open_run
from bciarena.report.page import render
from bciarena.report.replay import replay
from bciarena.report.texts import WORDS, worded, words_of
from bciarena.simulator import Order, make
from bciarena.simulator.quality_page import PAGES
from bciarena.verdicts import MEANING
from tests.accessibility import violations
from tests.making import write_folder


class Guesses:
    """Answers every trial with some word of the vocabulary after a while."""

    def start(self, info):
        self.info, self.count, self.turn = info, None, 0

    def step(self, packet):
        print(f"packet at {packet.start}") if packet.start == 0 else None
        answer = None
        if self.count is not None:
            self.count += packet.data.shape[1]
            if self.count >= self.info["rate"] * (0.4 + 0.2 * (self.turn % 4)):
                word = self.info["answers"][self.turn % len(self.info["answers"])]
                answer = int(word) if self.info["integer"] else word
                self.count, self.turn = None, self.turn + 1
        marked = (packet.data[-1] > 0).any() if self.info["marks"] else packet.start % 1500 == 0
        if marked and self.count is None and answer is None:
            self.count = 0
        return answer


EN, ZH = WORDS["en"], WORDS["zh"]


def codes_of(book, trials):
    """Trials 6 s apart with codes of every kind."""
    opens = sorted(book.opens - book.forbidden)
    gap = 6 * book.rate
    codes = {}
    for k in range(trials):
        codes[k * gap] = opens[k * 7 % len(opens)]
        codes[k * gap + 5 * book.rate] = 241
    return trials * gap, codes


@pytest.fixture(scope="module", params=RULEBOOKS, ids=lambda name: name.split("/")[0])
def any_run(request, tmp_path_factory):
    return played(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return played("rehab", tmp_path_factory)


def played(challenge, tmp_path_factory):
    book = rulebook(challenge)
    folder = tmp_path_factory.mktemp(book.name)
    data = write_folder(book, folder / "data", [codes_of(book, 8), codes_of(book, 6)], [codes_of(book, 7)] * 2)
    play(Guesses(), book.id, data, out=folder / "run")
    return folder / "run"


def test_the_quality_page_of_simulated_recordings_can_be_read_by_everybody(page, tmp_path):
    """Here, because this module has a browser."""
    out = tmp_path / "set"
    assert arena([*"simulate imagery --subjects 1 --blocks 1 --seed 4 --figures --out".split(), str(out)]) == 0
    for name in PAGES.values():
        page.goto((out / name).as_uri())
        assert violations(page) == []


def test_page_opens_without_errors_and_draws_every_figure(any_run, page, tmp_path):
    file = tmp_path / "report.html"
    assert arena(["report", str(any_run), "-o", str(file)]) == 0
    assert file.stat().st_size < 5_000_000
    page.goto(file.as_uri())
    page.evaluate("window.drawAll()")
    assert violations(page) == []
    figures = page.locator(".plot")
    assert figures.count() >= 6
    assert page.locator(".plot .main-svg").count() >= figures.count()
    for k in range(figures.count()):
        assert len(figures.nth(k).get_attribute("aria-label")) > 10
    labels = [figures.nth(k).get_attribute("aria-label") for k in range(figures.count())]
    ranges = "[...document.querySelectorAll('.plot')].map(p => [p._fullLayout.xaxis.range, p._fullLayout.yaxis.range])"
    before = page.evaluate(ranges)
    page.click("#language")
    page.wait_for_selector("html[data-drawn=zh]")
    assert page.evaluate(ranges) == before
    for k, english in enumerate(labels):
        chinese = figures.nth(k).get_attribute("aria-label")
        assert chinese != english
        assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese)
    assert page.inner_text("h1").startswith(ZH["title"])
    page.click("#replay-next")
    first = page.inner_text("#replay-time")
    page.click("#replay-next")
    assert page.inner_text("#replay-time") != first
    assert page.evaluate(
        "() => { const c = document.getElementById('replay-canvas');"
        "return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0) }"
    )
    assert page.errors == []


def test_generators_are_told_apart_wherever_the_data_lie(tmp_path):
    make(Order("liveness", "eval_A", subjects=3, blocks=1, seed=2, deep=False), tmp_path / "data")
    play(Guesses(), "liveness", tmp_path / "data", out=tmp_path / "run")

    def bars(data=None):
        (bar,) = next(f for f in all_figures(open_run(tmp_path / "run", data)) if f.name == "detection").data
        return bar["x"]

    assert bars() == ["@real", "@parametric", "@spectral"]
    (tmp_path / "data").rename(tmp_path / "moved")
    assert bars() == ["@real", "@generated"]
    assert bars(tmp_path / "moved") == ["@real", "@parametric", "@spectral"]
    (tmp_path / "moved" / "generators.json").write_text("cut [")
    assert bars(tmp_path / "moved") == ["@real", "@generated"]


def test_the_replay_keeps_to_its_room(run):
    kept = open_run(run)
    whole, none_left = replay(kept)
    small, left = replay(kept, 20_000)
    assert not none_left
    assert "left out" in left["en"]
    assert len(json.dumps(small)) < 20_000 < len(json.dumps(whole))
    nothing, why = replay(kept, 100)
    assert nothing is None
    assert "page is full" in why["en"]


def test_page_prints_to_pdf(run, page, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(render(run), "utf-8")
    page.goto(file.as_uri())
    page.evaluate("window.drawAll()")
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    assert page.errors == []


def damaged(run, tmp_path, how):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    how(copy)
    return copy


def cut_ledger(folder):
    path = folder / "ledger.jsonl"
    path.write_bytes(path.read_bytes()[:-200])


def no_ledger(folder):
    (folder / "ledger.jsonl").unlink()


def no_layout(folder):
    (folder / "layout.json").unlink()


def no_trials(folder):
    path = folder / "score.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"trials": [], "blocks": []}))


def invalid_run(folder):
    path = folder / "score.json"
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"verdict": "over_budget", "score": 0.0, "reason": "slow"})
    )


def no_score(folder):
    (folder / "score.json").unlink()


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (cut_ledger, "damaged or cut at line"),
        (no_ledger, "ledger.jsonl: not in the run folder"),
        (no_layout, "layout.json: not in the run folder"),
        (no_trials, "trials: none were judged"),
        (no_score, "score.json: not in the run folder"),
        (invalid_run, "over_budget"),
        (invalid_run, "The run is void"),
    ],
)
def test_a_damaged_run_says_what_is_missing_and_shows_the_rest(run, page, tmp_path, how, says):
    copy = damaged(run, tmp_path, how)
    file = tmp_path / "report.html"
    assert arena(["report", str(copy), "-o", str(file)]) == 0
    page.goto(file.as_uri())
    assert says in page.inner_text("main")
    page.evaluate("window.drawAll()")
    assert page.errors == []


def test_no_run_at_all_is_refused_in_one_line(tmp_path, capsys):
    assert arena(["report", str(tmp_path / "nothing"), "-o", str(tmp_path / "x.html")]) == 2
    assert "no such run folder" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert arena(["report", str(tmp_path / "empty"), "-o", str(tmp_path / "x.html")]) == 2
    assert "is this a run folder?" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("verb", [["report"], ["export", "--format", "csv"], ["export", "--format", "parquet"]])
def test_a_place_that_cannot_be_written_is_told_in_one_line(run, tmp_path, capsys, verb):
    (tmp_path / "there").mkdir()
    assert arena([verb[0], str(run), *verb[1:], "-o", str(tmp_path / "there")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_both_languages_have_the_same_words():
    assert EN.keys() == ZH.keys()


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=lambda book: book.name)
def test_a_contest_says_the_same_in_both_languages(book):
    """Chinese falls back to English word by word, so what it lacks must be looked for in its own file."""
    folder = contest(book).folder
    files = [folder / f"words.{code}.toml" for code in ("en", "zh")]
    en, zh = (tomllib.loads(path.read_text("utf-8")) if path.is_file() else {} for path in files)
    for table in ("report", "metrics"):
        assert en.get(table, {}).keys() == zh.get(table, {}).keys()
        assert not any(word in EN for word in en.get(table, {})), "a contest's own word must not hide a shared one"


def test_shared_words_name_no_contest():
    """What is true of one contest only stands in its folder."""
    own = {
        word for one in CONTESTS.values() for table in ("report", "metrics") for word in one.words["en"].get(table, {})
    }
    assert not own & EN.keys()


def test_a_contest_without_words_still_gets_its_page(tmp_path, monkeypatch):
    """A stranger's folder: rules and score of its own, and a report part that says things nobody has words for."""
    folder = tmp_path / "stranger"
    shutil.copytree(contest("rehab").folder, folder, ignore=shutil.ignore_patterns("words.*"))
    for file in folder.rglob("*.py"):
        text = file.read_text("utf-8").replace("bciarena.contests.rehab.", ".")
        file.write_text(text.replace("rehab/1", "stranger/1"), "utf-8")
    monkeypatch.setattr("bciarena.contests.registry.CONTESTS", dict(CONTESTS))
    monkeypatch.setenv("ARENA_CONTESTS", "")
    try:
        book = rulebook(str(folder))
        data = write_folder(book, tmp_path / "data", [codes_of(book, 8), codes_of(book, 6)])
        play(Guesses(), book.id, data, out=tmp_path / "run")
        text = render(tmp_path / "run")
    finally:
        RULEBOOKS.pop("stranger/1", None)
        CONTESTS.pop("stranger", None)
    assert "side accuracy" in text
    assert "sides: n " in text
    assert "no wrong side" in text


def test_figures_as_files(run, browser, tmp_path):
    command = [
        sys.executable,
        "-m",
        "bciarena",
        "report",
        run,
        "-o",
        tmp_path / "r.html",
        "--figures",
        tmp_path / "figures",
    ]
    subprocess.run(command, check=True)
    kinds = [path.suffix for path in (tmp_path / "figures").iterdir()]
    assert kinds.count(".svg") == kinds.count(".png") >= 7
    assert (tmp_path / "figures" / "sides.svg").read_text().startswith("<svg")


def test_export_loads_in_one_line(run, tmp_path):
    import pandas
    import polars

    score = json.loads((run / "score.json").read_text())
    for kind in ("csv", "parquet"):
        assert arena(["export", str(run), "--format", kind, "-o", str(tmp_path / f"x.{kind}")]) == 0
    assert len(pandas.read_csv(tmp_path / "x.csv")) == len(score["trials"])
    table = polars.read_parquet(tmp_path / "x.parquet")
    assert table["correct"].sum() == sum(t["correct"] for t in score["trials"])
    assert arena(["export", str(run), "--format", "xls"]) == 2


def test_compare_says_when_runs_cannot_be_told_apart(run, tmp_path, capsys):
    assert arena(["compare", str(run), str(run), "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)
    assert (pair["difference"], pair["distinguishable"], pair["only_one"]) == (0.0, False, [])
    other = damaged(run, tmp_path, no_ledger)
    assert arena(["compare", str(run), str(other)]) == 2
    assert "other data" in capsys.readouterr().err


def test_help_is_quick_and_complete():
    from bciarena.cli import build

    result = CliRunner().invoke(build(), ["--help"])
    assert result.exit_code == 0
    assert "report" in result.output


def test_a_page_says_codes_people_and_verdict_in_words(run, tmp_path):
    text = render(run)
    assert '<td data-sort="1">1 <span lang="en">left flexion</span><span lang="zh">左臂屈肘</span></td>' in text
    assert '"x": ["@person|1", "@person|2"]' in text
    assert 'data-text="@place|1|1"' in text
    assert not re.search(r"\bS\d+ B\d", text)
    assert "Accuracy by subject" in text
    assert "person 1 0." in text
    assert "被试 1 0." in text
    for words, code in ((EN, "en"), (ZH, "zh")):
        assert f'ok</b> <span lang="en">{EN["verdict_ok"]}</span><span lang="zh">{ZH["verdict_ok"]}</span>' in text
        assert {f"verdict_{name}" for name in MEANING} <= set(words), code


def test_a_page_says_where_the_points_went(any_run, page, tmp_path):
    """The greatest gain stands first, and each gain is what the rules make of it."""
    run = open_run(any_run)
    others = alternatives(run.book, run.trials)
    assert others, "guessing leaves something to gain"
    assert list(others.values()) == sorted(others.values(), reverse=True)
    assert all(score > run.score["score"] for score in others.values())
    file = tmp_path / "report.html"
    file.write_text(render(any_run), "utf-8")
    page.goto(file.as_uri())
    said = page.inner_text("#glance")
    assert worded(words_of(run.book)["en"], f"hint_{next(iter(others))}") in said
    assert f"Of {len(run.trials)} trials" in said
    page.click("#language")
    assert f"共 {len(run.trials)} 个试次" in page.inner_text("#glance")
