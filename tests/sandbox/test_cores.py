"""The budget is wall time; how much computing fits into it depends on the cores that are granted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bciarena.contests import rulebook
from bciarena.entries import interpreter_for, open_entry
from bciarena.runs import run_match
from bciarena.sandbox import Limits, boxed, why_not
from tests.making import make_recording

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")
BURNS = """import os
import time


class Burns:
    def start(self, info):
        print("CORES", info["cores"], os.environ["OMP_NUM_THREADS"])
        for _ in range(2):
            if os.fork() == 0:
                while True:
                    pass
        self.until = time.monotonic() + 3

    def step(self, packet):
        while time.monotonic() < self.until:
            time.sleep(0.01)
"""


def run(tmp_path: Path, cores: int, budget_s: float) -> tuple[dict, dict, str]:
    import json

    (tmp_path / "burns.py").write_text(BURNS)
    book = rulebook("imagery")
    with open_entry(f"{tmp_path}/burns.py:Burns", book) as package:
        player = boxed(package, interpreter_for(package), limits=Limits(cores=cores))
        recording = make_recording(book, [(1000, {100: 201})])
        result = run_match(book, recording, player, out=tmp_path / str(cores), budget_s=budget_s)
    end = json.loads((tmp_path / str(cores) / "ledger.jsonl").read_text().splitlines()[-1])
    return result, end, (tmp_path / str(cores) / "stdout.txt").read_text()


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_two_busy_processes_within_the_budget_are_not_voided(tmp_path: Path) -> None:
    """They use more CPU time than the budget, but no more than their cores have."""
    result, _, said = run(tmp_path, 2, 5)
    assert (result["verdict"], result["reason"]) == ("ok", "")
    assert said.startswith("CORES 2 2")


def test_one_core_is_all_they_share(tmp_path: Path) -> None:
    result, end, said = run(tmp_path, 1, 8)
    assert result["verdict"] == "ok", result["reason"]
    assert said.startswith("CORES 1 1")
    if "cgroup" in result["sandbox"] and "no cgroup" not in result["sandbox"]:
        assert end["cpu_s"] < 1.15 * end["wall_s"]
