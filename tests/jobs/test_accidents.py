"""Whose fault it is when a process of a match is killed: from outside, by itself, or for lack of memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bciarena.database.db import open_database
from bciarena.jobs import queue as queue_module
from bciarena.jobs.local import LocalEngine
from bciarena.jobs.queue import Queue
from bciarena.jobs.storage import Storage
from bciarena.jobs.work import Work
from bciarena.sandbox import why_not
from tests.jobs.playing import entry_file, imagery_data, match_payload, wait_for

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"needs boxes: {why_not()}")


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    monkeypatch.setattr(queue_module, "RETRY_S", (0.1, 0.1))
    engine = open_database(f"sqlite:///{tmp_path / 'arena.db'}")
    yield Queue(engine)
    engine.dispose()


def box_processes() -> tuple[psutil.Process, psutil.Process]:
    """The box that is playing now, under this process: bubblewrap's own process and the entry's interpreter."""
    for process in psutil.Process().children(recursive=True):
        try:
            if process.name() == "bwrap" and process.parent().name() != "bwrap":
                inner = [one for one in process.children(recursive=True) if one.name().startswith("python")]
                if inner:
                    return process, inner[0]
        except psutil.NoSuchProcess:
            continue
    raise LookupError


def play(queue: Queue, storage: Storage, payload: dict[str, Any], strike: Callable[[], None]) -> Any:
    """Play one job to its end; ``strike`` is called once, when packets flow."""
    job = queue.put("match", payload)

    def wait_and_strike() -> None:
        wait_for(lambda: (queue.get(job).progress or {}).get("packets"), 30, "packets flow")
        strike()

    thread = threading.Thread(target=wait_and_strike)
    thread.start()
    Work(queue, storage, LocalEngine(storage, 1), say=print, once=True, lease_s=5.0).run()
    thread.join()
    return queue.get(job)


@pytest.fixture
def slow(storage: Storage, tmp_path: Path) -> dict[str, Any]:
    return match_payload(storage, imagery_data(tmp_path / "data", 1, 3), entry_file(tmp_path / "entry", 0.01))


def notes_of(storage: Storage, run: str) -> list[str]:
    return json.loads(storage.read(run, "score.json"))["notes"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_box_killed_from_outside_is_our_fault(
    number: signal.Signals, queue: Queue, storage: Storage, slow: dict[str, Any]
) -> None:
    row = play(queue, storage, slow, lambda: box_processes()[0].send_signal(number))
    assert (row.state, row.verdict, row.faults) == ("finished", "ok", 1)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_entry_killed_from_outside_is_played_once_more(
    number: signal.Signals, queue: Queue, storage: Storage, slow: dict[str, Any]
) -> None:
    row = play(queue, storage, slow, lambda: box_processes()[1].send_signal(number))
    assert (row.state, row.verdict, row.faults, row.attempt) == ("finished", "ok", 0, 1)
    assert any(f"the first time the entry died of {number.name}" in note for note in notes_of(storage, row.run))


def test_an_entry_that_kills_itself_gains_nothing(queue: Queue, storage: Storage, tmp_path: Path) -> None:
    entry = tmp_path / "entry" / "entry.py"
    entry.parent.mkdir()
    entry.write_text(
        "import os, time\nclass Slow:\n    def step(self, packet):\n        time.sleep(0.01)\n"
        "        if packet.number == 100:\n            os.kill(os.getpid(), 9)\n"
    )
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 2), entry)
    row = play(queue, storage, payload, lambda: None)
    assert (row.state, row.verdict, row.faults, row.attempt) == ("failed", "killed", 0, 1)
    assert "died of SIGKILL" in row.error
    assert any("played a second time" in note for note in notes_of(storage, row.run))


HUNGRY = """
import sys
from pathlib import Path
from bciarena.jobs.lease import Lease
from bciarena.jobs.perform import perform
from bciarena.jobs.storage import Storage
import json
storage = Storage(sys.argv[1])
outcome = perform(Lease(0, 0, "match", json.loads(sys.argv[2])), storage, lambda _: None)
print(json.dumps([outcome.verdict, outcome.error]))
"""


def test_a_machine_without_memory_is_our_fault(storage: Storage, tmp_path: Path) -> None:
    """The group around the box has less memory than the box may use: as on a machine that is short of it."""
    place = Path("/sys/fs/cgroup/memory") / f"arena-test-{os.getpid()}"
    try:
        place.mkdir()
        (place / "memory.limit_in_bytes").write_text(str(600 << 20))
    except OSError:
        pytest.skip("no memory group of cgroup v1 can be made here")
    entry = tmp_path / "entry" / "entry.py"
    entry.parent.mkdir()
    entry.write_text(
        "class Slow:\n    def step(self, packet):\n        self.kept = getattr(self, 'kept', [])\n"
        "        self.kept.append(b'x' * (8 << 20))\n"
    )
    payload = match_payload(storage, imagery_data(tmp_path / "data", 1, 2), entry)
    try:
        joined = f"import os; open('{place}/cgroup.procs', 'w').write(str(os.getpid()))\n"
        done = subprocess.run(
            [sys.executable, "-c", joined + HUNGRY, storage.url, json.dumps(payload)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "ARENA_CACHE": str(tmp_path / "cache")},
        )
    finally:
        wait_for(lambda: _removed(place), 10, "the group is removed")
    verdict, error = json.loads(done.stdout.splitlines()[-1])
    assert verdict == "", error
    assert "the machine ran out of memory" in error


def _removed(place: Path) -> bool:
    try:
        place.rmdir()
    except OSError:
        return False
    return True
