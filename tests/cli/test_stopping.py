"""Ctrl-C at random moments: nothing half-written under a final name, nothing beside it, one line, exit 130."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from tests.making import write_folder

MOMENTS = 4
BOOK = rulebook("imagery")
SLOW = "import time\nclass Slow:\n    def step(self, packet):\n        time.sleep(0.01)\n        return None\n"
COMMANDS = {
    "simulate": ["simulate", "imagery", "--subjects", "2", "--blocks", "3", "--out", "OUT"],
    "run": ["run", "SLOW", "--challenge", "imagery", "--data", "DATA", "--sandbox", "none", "--out", "OUT"],
    "convert": ["convert", "DATA", "--challenge", "imagery", "--format", "bids", "--out", "OUT"],
    "pack": ["pack", "SLOW", "--challenge", "imagery", "-o", "OUT.zip"],
    "new": ["new", "imagery", "OUT"],
    "report": ["report", "RUN", "-o", "OUT.html"],
}


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> dict[str, Path | str]:
    folder = tmp_path_factory.mktemp("stopping")
    block = (20_000, {500 + 2000 * k: 201 + k % 3 for k in range(9)})
    data = write_folder(BOOK, folder / "data", [block] * 2)
    (folder / "slow.py").write_text(SLOW)
    (folder / "quick.py").write_text(SLOW.replace("time.sleep(0.01)", "pass"))
    words = ["--challenge", "imagery", "--data", str(data), "--sandbox", "none", "--out", str(folder / "run")]
    assert main(["run", f"{folder}/quick.py:Slow", *words]) == 0
    return {"DATA": data, "SLOW": f"{folder}/slow.py:Slow", "RUN": folder / "run"}


@pytest.mark.parametrize("name", COMMANDS)
def test_stopped_at_random(name, names, tmp_path) -> None:
    rng = random.Random(name)
    for moment in range(MOMENTS):
        place = tmp_path / str(moment)
        place.mkdir()
        files = {"OUT": place / "out", "OUT.zip": place / "out.zip", "OUT.html": place / "out.html"}
        words = [str({**names, **files}.get(word, word)) for word in COMMANDS[name]]
        process = subprocess.Popen(
            [sys.executable, "-c", "print('up', flush=True); from bciarena.cli import run; run()", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0.3, 3.0))
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
        said = process.communicate(timeout=60)[1]
        left = [path.name for path in place.iterdir()]
        if process.returncode == 0:  # it was done before
            assert len(left) == 1
            continue
        assert process.returncode == 130, (process.returncode, said)
        assert "Traceback" not in said
        assert left == [], said


def test_force_replaces_all_or_nothing(tmp_path) -> None:
    """Whoever is stopped while replacing a folder has the old one or the new one."""
    from bciarena.writing import whole_folder

    old = tmp_path / "out"
    old.mkdir()
    (old / "kept").write_text("old")
    replace = os.replace

    def stopped(source, target):
        if Path(target) == old and Path(source).name.endswith(".part"):
            raise KeyboardInterrupt
        replace(source, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bciarena.writing.os.replace", stopped)
        with pytest.raises(KeyboardInterrupt), whole_folder(old, force=True) as beside:
            (beside / "new").write_text("new")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "kept"]
