"""Numbers that the kernel gives to pipes and shared pages of everybody: no run leaves a message in them."""

import os

import pytest
import recordings

from bciarena.contests import rulebook
from bciarena.entries.opened import opened
from bciarena.runs import run_match
from bciarena.sandbox import counters
from bciarena.sandbox.counters import BATCH, MOST, NOISE, USUAL, blur
from tests.making import write_folder

MAKES = """
import os
class Entry:
    def start(self, info):
        for end in [end for _ in range({pipes}) for end in os.pipe()]: os.close(end)
    def step(self, packet): return None
"""


@pytest.mark.parametrize(
    ("made", "most"), [(0, USUAL), (17, USUAL), (USUAL, USUAL), (USUAL + 1, MOST), (MOST + 9, MOST)]
)
def test_the_sum_is_the_same_for_all_but_for_a_much_larger_random_number(monkeypatch, made, most):
    told = []
    monkeypatch.setattr(counters, "_repeat", lambda make, times: told.append((make, times)))
    sums = set()
    for _ in range(50):
        told.clear()
        blur(made, {0})
        first = [(make, times) for make, times in told[:2] if BATCH <= times < 2 * BATCH]
        assert [make for make, _ in first] == [counters._pipe, counters._page], "a whole batch on each of its cores"
        assert [make for make, _ in told[2:]] == [counters._pipe, counters._page]
        for _, times in told[2:]:
            assert most <= min(made, most) + times < most + NOISE * most
        sums.add(told[2][1])
    assert len(sums) > 40, "nobody can subtract it"
    assert max(sums) - min(sums) > NOISE * most / 2


def number():
    """The newest number of a pipe, beyond what this core still has of an older batch."""
    for _ in range(BATCH + 1):
        ends = os.pipe()
        newest = os.fstat(ends[0]).st_ino
        for end in ends:
            os.close(end)
    return newest


@pytest.mark.usefixtures("box_works")
@pytest.mark.parametrize("pipes", [0, 300])
def test_what_a_ranked_run_makes_is_counted_and_blurred(tmp_path, monkeypatch, pipes):
    told = []
    monkeypatch.setattr(counters, "NOISE", 2)
    real = counters.blur
    monkeypatch.setattr(
        "bciarena.sandbox.box.blur", lambda made, cores: (told.append((made, cores)), real(made, cores))
    )
    file = tmp_path / "entry.py"
    file.write_text(MAKES.format(pipes=pipes))
    book = rulebook("imagery")
    before = number()
    with opened(f"{file}:Entry", book, ranked=True) as entry:
        result = run_match(book, recordings.recording("imagery"), entry.player(), clock="data")
    assert result["verdict"] == "ok", result["reason"]
    ((made, cores),) = told
    assert pipes + 1 <= made < pipes + 20, "and the wire's shared page"
    assert cores == os.sched_getaffinity(0)
    assert (number() - before) % 2**32 >= USUAL


TRAINS = """
import os, pathlib
def train(data, out):
    for end in [end for _ in range({pipes}) for end in os.pipe()]: os.close(end)
    pathlib.Path(out, "m.txt").write_text("x")
"""


@pytest.mark.usefixtures("box_works")
@pytest.mark.parametrize("ranked", [True, False])
def test_what_a_ranked_training_makes_is_counted_and_blurred(tmp_path, monkeypatch, ranked):
    """It may have been given labels that its team must not see."""
    told = []
    monkeypatch.setattr("bciarena.sandbox.box.blur", lambda made, cores: told.append(made))
    package = tmp_path / "package"
    package.mkdir()
    (package / "entry.py").write_text(MAKES.format(pipes=0))
    (package / "config.toml").write_text('entry = "entry.py:Entry"\n')
    (package / "train.py").write_text(TRAINS.format(pipes=300))
    book = rulebook("imagery")
    data = write_folder(book, tmp_path / "data", [(2000, {500: 201, 1500: 241})])
    with opened(str(package), book, ranked=ranked) as entry:
        entry.train(data, tmp_path / "model", budget_s=60)
    assert (tmp_path / "model" / "m.txt").is_file()
    assert len(told) == ranked
    assert all(300 <= made < 340 for made in told), told
