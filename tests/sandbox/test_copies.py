"""Copies for ranked boxes leave room on the disk: the longest unused make way, never those of a running box."""

import os
import shutil
from collections import namedtuple

import pytest

from bciarena.sandbox import copies
from bciarena.sandbox.copies import own_place

Disk = namedtuple("Disk", "total used free")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Three places with two old copies each, on a disk where 10 are free for every copy that is gone."""
    folder = tmp_path / "copies"
    for place in range(3):
        for age in (1, 2):
            copy = folder / f"{place}" / f"old{age}-x"
            copy.mkdir(parents=True)
            os.utime(copy, (copy.stat().st_mtime - 100 * age,) * 2)
    full = len(list(folder.glob("*/*-*")))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(100, 0, 10 * (full - len(list(folder.glob("*/*-*"))))))
    return folder


@pytest.fixture
def source(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "module.py").write_text("x = 1")
    return tmp_path / "source"


def left(cache):
    return sorted(str(path.relative_to(cache)) for path in cache.glob("*/old*"))


@pytest.mark.parametrize(
    ("wanted", "stay"),
    [
        (0, ["0/old1-x", "0/old2-x", "1/old1-x", "1/old2-x", "2/old1-x", "2/old2-x"]),
        (10, ["0/old1-x", "1/old1-x", "1/old2-x", "2/old1-x", "2/old2-x"]),
        (30, ["1/old1-x", "2/old1-x", "2/old2-x"]),
    ],
)
def test_the_oldest_make_way_here_first(cache, source, wanted, stay, monkeypatch):
    monkeypatch.setattr(copies, "FREE_SHARE", wanted / 100)
    with own_place(cache) as place:
        [(copy, where)] = place.copies([(source, source)], [])
        assert left(cache) == stay
    assert (copy / "module.py").read_text() == "x = 1"
    assert where == source


def test_places_of_running_boxes_are_left_alone_and_what_is_there_is_not_made_again(cache, source, monkeypatch):
    monkeypatch.setattr(copies, "FREE_SHARE", 1.0)
    with own_place(cache) as first, own_place(cache) as second:
        [(copy, _)] = second.copies([(source, source)], [])
        assert left(cache) == ["0/old1-x", "0/old2-x"]
        made = copy.stat().st_ino
        assert second.copies([(source, source)], [])[0][0].stat().st_ino == made
        assert (first.number, second.number) == (0, 1)


def test_an_error_of_the_user_of_a_place_stays_what_it_is(cache):
    with pytest.raises(OSError, match="mine"), own_place(cache):
        raise OSError("mine")
    with own_place(cache) as place:
        assert place.number == 0
