"""Which storage belongs to a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from bciarena.database.db import open_database, writing
from bciarena.errors import BadInput
from bciarena.jobs.model import Fact
from bciarena.jobs.queue import Queue
from bciarena.jobs.storage import Storage, Unwell
from bciarena.jobs.stores import open_storage


def test_the_first_process_makes_it_and_all_others_must_find_the_same(queue: Queue, tmp_path: Path) -> None:
    first = open_storage(queue.engine, tmp_path / "store")
    name = first.put_bytes(b"x")
    assert open_storage(queue.engine, tmp_path / "store").read(name) == b"x"
    wrong = open_storage(queue.engine, tmp_path / "typing-mistake")
    with pytest.raises(Unwell, match="is away"):
        wrong.put_bytes(b"y")
    assert not (tmp_path / "typing-mistake").exists()
    Storage(tmp_path / "other").make()
    with pytest.raises(Unwell, match="another store"):
        open_storage(queue.engine, tmp_path / "other").read(name)


def test_a_database_from_before_marks_takes_the_storage_it_has_but_no_empty_one(queue: Queue, tmp_path: Path) -> None:
    storage = Storage(tmp_path / "store").make()
    name = storage.put_bytes(b"x")
    (tmp_path / "store" / "store.json").unlink()
    queue.put("match", {})
    with pytest.raises(BadInput, match="is empty, but the database has jobs"):
        open_storage(queue.engine, tmp_path / "unmounted")
    assert not (tmp_path / "unmounted").exists()
    assert open_storage(queue.engine, tmp_path / "store").read(name) == b"x"


def test_a_copied_database_keeps_its_store(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    made = open_storage(engine, tmp_path / "store")
    with writing(engine) as session:
        assert session.get_one(Fact, "store").value == made.store
    engine.dispose()
