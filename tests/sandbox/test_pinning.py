"""Cores for each match: shared out only where there are enough, left again, and seen from inside a box."""

import os

import pytest
import recordings

from bciarena.contests import rulebook
from bciarena.entries.opened import opened
from bciarena.runs import run_match
from bciarena.sandbox import Limits, pinning

ASKS = """
import os
class Entry:
    def start(self, info):
        os.sched_setaffinity(0, range(1000))  # answered and not done: a neighbour's core would be among them
        print("may use", sorted(os.sched_getaffinity(0)))
    def step(self, packet): return None
"""


@pytest.mark.parametrize(
    ("slots", "allowed", "most", "pool"),
    [
        (1, [0], 0, []),
        (1, [0, 1], 0, []),
        (1, [4, 2, 9], 1, [9]),
        (1, range(4), 2, [3, 2]),
        (3, range(8), 1, [7, 6, 5, 4]),
        (4, range(8), 0, [7, 6, 5]),
        (2, range(9), 3, [8, 7, 6, 5, 4, 3]),
    ],
)
def test_cores_for_each_box_leave_one_for_its_referee_and_one_for_the_rest(slots, allowed, most, pool):
    assert pinning.most_cores(slots, allowed) == most
    assert pinning.box_cores(slots, allowed) == pool
    assert (slots <= pinning.most_matches(allowed)) == (most > 0)


@pytest.fixture
def eight_cores(monkeypatch, tmp_path):
    """A machine of eight; the list is what this thread was told to use."""
    now = [set(range(8))]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(now[-1]))
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, cores: now.append(set(cores)))
    return now


def test_a_worker_says_what_its_matches_have(eight_cores):
    assert pinning.told(3) == "each ranked match has a core of its own (8 cores, 3 at once)"
    assert pinning.told(2) == "each ranked match has up to 2 cores of its own (8 cores, 2 at once)"
    assert "8 are too few to give each of 4 its own" in pinning.told(4)


def test_matches_never_get_the_same_cores_and_leave_them(eight_cores, monkeypatch):
    everything = set(range(8))
    monkeypatch.setenv(pinning.PIN, "2")
    with pinning.own_cores(2) as first:
        assert first == {7, 6}
        assert eight_cores[-1] == {0, 1, 2}  # for two referees and the rest of the machine
        eight_cores.append(everything)  # the second match is another process
        with pinning.own_cores(1) as second, pinning.starting_on(second):
            assert second == eight_cores[-1] == {5}
        eight_cores.append(everything)
        with pinning.own_cores(2) as third:
            assert third == {5, 4}
            eight_cores.append(everything)
            with pinning.own_cores(2) as too_many:
                assert too_many == set()
                assert eight_cores[-1] == everything
    assert eight_cores[-1] == everything


@pytest.mark.parametrize(("slots", "granted"), [("2", 3), ("2", 0), ("4", 1), ("", 1)])
def test_all_matches_that_are_granted_as_many_have_them_or_none_has(eight_cores, monkeypatch, slots, granted):
    monkeypatch.setenv(pinning.PIN, slots)
    with pinning.own_cores(granted) as cores:
        assert cores == set()
    assert len(eight_cores) == 1


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Shared by all boxes here: making the copies that a ranked box has of its Python takes a while."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def free_cores(monkeypatch, cache):
    """How many a box may have here; the last one also where there are only two."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("one core cannot be shared out")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    if len(allowed) == 2:
        monkeypatch.setattr(pinning, "most_cores", lambda slots, allowed: 1)
        monkeypatch.setattr(pinning, "box_cores", lambda slots, allowed: [max(allowed)])
        return allowed[-1:]
    return allowed[2:]


@pytest.mark.usefixtures("box_works")
@pytest.mark.parametrize(("ranked", "pin", "granted"), [(True, "1", 1), (True, "", 1), (False, "1", 1), (True, "1", 2)])
def test_a_ranked_box_stays_on_its_cores_where_the_worker_says_so(
    tmp_path, free_cores, monkeypatch, ranked, pin, granted
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
    own = ranked and pin and granted <= len(free_cores)
    expected = free_cores[-granted:] if own else sorted(before)
    assert (tmp_path / "run" / "stdout.txt").read_text() == f"may use {expected}\n"
    assert os.sched_getaffinity(0) == before
