"""Environments make way for new ones."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from bciarena.entries import room
from bciarena.errors import Fault


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four environments of 40 MiB, used 1, 10, 20 and 30 hours ago, where 100 are allowed."""
    monkeypatch.setattr(room, "MOST_MIB", 100)
    for hours in (1, 10, 20, 30):
        folder = tmp_path / f"py3.11-{hours}"
        folder.mkdir()
        (folder / room.RECORD).write_text(json.dumps({"mib": 40}))
        room.mark_used(folder)
        then_s = time.time() - 3600 * hours
        os.utime(tmp_path / f"{folder.name}.lock", (then_s, then_s))
    return tmp_path


def left(place: Path) -> set[str]:
    return {folder.name for folder in place.iterdir() if folder.is_dir()}


def test_those_unused_for_longest_go_first(place: Path) -> None:
    assert [folder.name for folder in room.make_room(place)] == ["py3.11-30", "py3.11-20"]
    assert left(place) == {"py3.11-1", "py3.11-10"}
    assert room.make_room(place) == []


def test_one_that_is_used_again_stays(place: Path) -> None:
    room.mark_used(place / "py3.11-30")
    room.make_room(place)
    assert "py3.11-30" in left(place)


def test_what_may_be_in_use_is_never_removed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_MIB", 10)
    with pytest.raises(Fault, match="all were used within 6 h"):
        room.make_room(place)
    assert left(place) == {"py3.11-1"}


def test_a_size_that_was_never_noted_is_measured(place: Path) -> None:
    (place / "py3.11-1" / room.RECORD).write_text("{}")
    (place / "py3.11-1" / "library").write_bytes(os.urandom(3 << 20))
    assert room.size_mib(place / "py3.11-1") == 3
    assert [folder.name for folder in room.make_room(place)] == ["py3.11-30"]
    assert json.loads((place / "py3.11-1" / room.RECORD).read_text())["mib"] == 3
