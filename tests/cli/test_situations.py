"""A user's situation is told in one line with exit 2, never as our fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.cli._playing import told_first
from bciarena.contests import rulebook
from bciarena.sandbox import why_not
from tests.making import write_folder

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"boxes do not work here: {why_not()}")
LEARNER = """import numpy as np


class Mean:
    window_s = (0.0, 1.0)

    def fit(self, X, y):
        self.answer = int(y[0])

    def predict(self, X):
        return np.full(len(X), self.answer)
"""


@pytest.fixture
def entry(tmp_path: Path) -> str:
    (tmp_path / "mean.py").write_text(LEARNER)
    return f"{tmp_path / 'mean.py'}:Mean"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    book = rulebook("imagery")
    codes = {500: 201, 2500: 202, 4500: 203}
    return write_folder(book, tmp_path / "data", [(6000, codes), (6000, codes)], [(6000, codes)])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    yield place
    subprocess.run(["umount", place], check=True)


def told(capsys: pytest.CaptureFixture[str], command: list[str]) -> str:
    assert main(command) == 2, capsys.readouterr()
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("arena: ")]
    assert len(said) == 1
    assert "our fault" not in said[0]
    return said[0]


def test_an_out_that_cannot_be_written_is_told_before_the_work(tmp_path, entry, data, capsys) -> None:
    (tmp_path / "file").write_text("")
    place = str(tmp_path / "file" / "deeper")
    options = [entry, "--challenge", "imagery", "--data", str(data), "--out", place]
    assert "cannot be written" in told(capsys, ["run", *options])
    assert "cannot be written" in told(capsys, ["train", *options])
    assert "cannot be written" in told(capsys, ["pack", entry, "--challenge", "imagery", "-o", f"{place}.zip"])


def test_a_full_disk(small_disk, entry, data, capsys) -> None:
    (small_disk / "filler").write_bytes(bytes(12_000))
    said = told(
        capsys,
        [
            "run",
            entry,
            "--challenge",
            "imagery",
            "--data",
            str(data),
            "--out",
            str(small_disk / "run"),
            "--model",
            str(trained(entry, data)),
        ],
    )
    assert "No space left" in said


def trained(entry: str, data: Path) -> Path:
    model = data.parent / "model"
    assert main(["train", entry, "--challenge", "imagery", "--data", str(data), "--out", str(model)]) == 0
    return model


def test_a_model_that_is_none_and_one_that_knows_the_data(tmp_path, entry, data, capsys) -> None:
    options = ["run", entry, "--challenge", "imagery", "--data", str(data)]
    assert "no such model folder" in told(capsys, [*options, "--model", str(tmp_path / "nowhere")])
    model = trained(entry, data)
    assert len(json.loads((model / "trained.json").read_text())["blocks"]) == 3
    capsys.readouterr()
    assert main([*options, "--model", str(model)]) == 0
    assert "trained on this data: 3 of 3 blocks" in capsys.readouterr().out
    other = write_folder(rulebook("imagery"), tmp_path / "other", [(6001, {500: 201})])
    assert main(["run", entry, "--challenge", "imagery", "--data", str(other), "--model", str(model)]) == 0
    assert "trained on this data" not in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    assert main([*options, "--model", str(tmp_path / "empty")]) == 1  # the entry cannot load it, and says so
    assert "our fault" not in capsys.readouterr().err


def test_a_typo_in_a_name(data, capsys) -> None:
    assert "unknown entry '@imagry'" in told(capsys, ["run", "@imagry", "--data", str(data)])


def test_a_missing_extra_is_named() -> None:
    """Not installed here by name only: the words of the command line for a module that is absent."""
    from bciarena.cli import _theirs

    assert "pip install 'bciarena[lab]'" in _theirs(ModuleNotFoundError("no mne_lsl", name="mne_lsl"), ["live"])
    assert "pip install 'bciarena[ray]'" in _theirs(ModuleNotFoundError("no ray", name="ray"), ["worker"])
    assert _theirs(ModuleNotFoundError("ours", name="bciarena.nowhere"), ["run"]) == ""


def test_two_commands_into_one_folder(tmp_path, data) -> None:
    """The second is refused while the first is at work; nothing is lost."""
    (tmp_path / "slow.py").write_text(
        "import time\nclass Slow:\n    def step(self, packet):\n        time.sleep(0.002)\n        return None\n"
    )
    command = [sys.executable, "-c", "from bciarena.cli import run; run()", "run", f"{tmp_path}/slow.py:Slow"]
    command += ["--challenge", "imagery", "--data", str(data), "--out", str(tmp_path / "out")]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    ends = sorted((process.communicate()[1], process.returncode) for process in both)
    codes = sorted(code for _, code in ends)
    assert codes in ([0, 2], [2, 2]), ends
    assert all("another command is writing it" in said or "exists already" in said for said, code in ends if code == 2)
    assert (tmp_path / "out" / "score.json").is_file() == (0 in codes)


def test_links_are_followed_in_train_as_in_run(tmp_path, entry, data) -> None:
    elsewhere = tmp_path / "linked"
    (elsewhere / "S02").mkdir(parents=True)
    os.symlink(data / "S01", elsewhere / "S01")
    os.symlink("../../data/S02/block_1.npz", elsewhere / "S02" / "block_1.npz")
    os.symlink(elsewhere, tmp_path / "top")
    model = trained(entry, tmp_path / "top")
    options = ["--challenge", "imagery", "--data", str(tmp_path / "top"), "--model", str(model)]
    assert main(["run", entry, *options]) == 0


def test_a_refusal_names_the_folder_with_links(tmp_path, capsys) -> None:
    write_folder(rulebook("imagery"), tmp_path / "short", [(600, {500: 201})])  # no trial of full length
    (tmp_path / "linked").mkdir()
    os.symlink(tmp_path / "short" / "S01", tmp_path / "linked" / "S01")
    out = ["--out", str(tmp_path / "m")]
    said = told(capsys, ["train", "@imagery-baseline", "--data", str(tmp_path / "linked"), *out])
    named = f"{tmp_path / 'linked'}: "
    assert said.startswith(f"arena: {named}the entry's training refused this data: '{named}no trial"), said


def test_a_folder_of_another_challenge(tmp_path, entry, capsys) -> None:
    book = rulebook("speller")
    folder = write_folder(book, tmp_path / "s", [(9000, {500: 8, 2500: 9, 4500: 101, 6500: 33})])
    out = ["--out", str(tmp_path / "m")]
    said = told(capsys, ["train", "@turing", "--data", str(folder), *out])
    assert "its codes are not those of turing/1" in said
    assert "they fit speller" in said
    assert "is one of imagery/1; they fit speller" in told(
        capsys, ["train", entry, "--challenge", "imagery", "--data", str(folder), *out]
    )


def test_what_concerns_the_whole_run_is_told_before_single_reports() -> None:
    single = [f"report at subject 1 block 1 sample {n}: belongs to no trial and is ignored" for n in range(30)]
    assert told_first([*single, "trained on this data", "warning: x"]) == [
        "trained on this data",
        "warning: x",
        *single,
    ]
