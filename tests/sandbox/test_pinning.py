"""A core for each match: shared out only where there are enough, left again, and seen from inside a box."""

import os
import threading

import pytest
import recordings

from bciarena.contests import rulebook
from bciarena.entries.opened import opened
from bciarena.runs import run_match
from bciarena.sandbox import Limits, pinning

ASKS = """
import os
class Entry:
    def start(self, info): print("may use", sorted(os.sched_getaffinity(0)))
    def step(self, packet): return None
"""


@pytest.mark.parametrize(
    ("allowed", "own"), [([0], []), ([0, 1], []), ([4, 2, 9], [9]), (range(4), [3]), (range(8), [5, 6, 7])]
)
def test_a_core_for_each_box_leaves_one_for_its_referee_and_one_for_the_rest(allowed, own):
    assert pinning.box_cores(allowed) == own


def test_all_matches_of_a_worker_have_one_or_none_has(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert [pinning.pins(slots) for slots in (1, 3, 4)] == [True, True, False]
    assert pinning.told(3) == "each ranked match has a core of its own (8 cores, 3 at once)"
    assert "8 are too few to give each of 4 its own" in pinning.told(4)


@pytest.fixture
def last_core(monkeypatch, tmp_path):
    """The machine's last core is one for boxes, however few it has."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("one core cannot be shared out")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(pinning, "box_cores", lambda allowed: [max(allowed)])
    return allowed[-1]


def test_two_matches_never_get_the_same_core_and_leave_it(last_core):
    before, seen = os.sched_getaffinity(0), []

    def second():
        with pinning.own_core() as other:
            seen.extend([other, os.sched_getaffinity(0)])

    with pinning.own_core() as core:
        assert core == last_core
        assert os.sched_getaffinity(0) == before - {core}
        thread = threading.Thread(target=lambda: (os.sched_setaffinity(0, before), second()))
        thread.start()
        thread.join()
    assert seen == [None, before]
    assert os.sched_getaffinity(0) == before
    with pinning.own_core() as again:
        assert again == last_core


@pytest.mark.usefixtures("box_works")
@pytest.mark.parametrize(("ranked", "pin", "granted"), [(True, "1", 1), (True, "", 1), (False, "1", 1), (True, "1", 2)])
def test_a_ranked_box_stays_on_its_core_where_the_worker_says_so(
    tmp_path, last_core, monkeypatch, ranked, pin, granted
):
    before = os.sched_getaffinity(0)
    monkeypatch.setenv(pinning.PIN, pin)
    file = tmp_path / "entry.py"
    file.write_text(ASKS)
    book = rulebook("imagery")
    with opened(f"{file}:Entry", book, ranked=ranked) as entry:
        result = run_match(
            book,
            recordings.recording("imagery"),
            entry.player(Limits(cores=granted)),
            out=tmp_path / "run",
            clock="data",
        )
    assert result["verdict"] == "ok", result["reason"]
    expected = [last_core] if ranked and pin and granted == 1 else sorted(before)
    assert (tmp_path / "run" / "stdout.txt").read_text() == f"may use {expected}\n"
    assert os.sched_getaffinity(0) == before
