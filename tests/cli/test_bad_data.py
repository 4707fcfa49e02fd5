"""Every kind of bad data: one line that names the file, the block and the field; exit 2; nothing left behind."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

from bciarena.cli import main as arena
from bciarena.contests import rulebook
from tests.making import make_data

BOOK = rulebook("imagery")


def good():
    return {
        "data": make_data(BOOK, 3000, {0: 242, 100: 201}),
        "srate": np.array(250),
        "ch_names": np.array(BOOK.channels),
    }


def without(key):
    return {k: v for k, v in good().items() if k != key}


def changed(**values):
    return good() | values


def with_sample(row, value):
    content = good()
    content["data"][row, 50] = value
    return content


def codes(found):
    return changed(data=make_data(BOOK, 3000, found))


NAMES = list(BOOK.channels)
SWAPPED = [NAMES[1], NAMES[0], *NAMES[2:]]
CASES = {
    "no_data": (without("data"), "field data is missing"),
    "no_rate": (without("srate"), "field srate is missing"),
    "no_names": (without("ch_names"), "field ch_names is missing"),
    "few_channels": (changed(data=good()["data"][5:], ch_names=np.array(NAMES[5:])), "field data: 59 channels"),
    "names_do_not_fit": (changed(ch_names=np.array(NAMES[:10])), "field ch_names: 10 names for 65 rows"),
    "other_order": (changed(ch_names=np.array(SWAPPED)), "field ch_names: row 0 is Fp1"),
    "other_rate": (changed(srate=np.array(1000)), "field srate: 1000 Hz"),
    "half_rate": (changed(srate=np.array(250.5)), "field srate"),
    "nan": (with_sample(4, np.nan), "field data: nan in channel AF4 at sample 50"),
    "infinite": (with_sample(63, np.inf), "field data: inf in channel VEOL at sample 50"),
    "half_code": (with_sample(64, 20.5), "trigger row: 20.5 at sample 50 is not an integer code"),
    "nan_code": (with_sample(64, np.nan), "trigger row: nan at sample 50"),
    "large_code": (with_sample(64, 300), "trigger row: code 300 at sample 50 is outside 0-255"),
    "no_trial": (codes({0: 242}), "no trial in this block"),
    "masked": (codes({0: 242, 100: 249}), "code 249 at sample 100 stands where the truth was taken out"),
    "one_row": (changed(data=np.zeros((1, 100)), ch_names=np.array([])), "field data: shape (1, 100)"),
    "no_samples": (changed(data=np.zeros((65, 0))), "field data: shape (65, 0)"),
    "text": (changed(data=np.array([["a", "b"], ["c", "d"]])), "field data: <U1"),
    "three_dimensions": (changed(data=np.zeros((2, 3, 4))), "field data: float64 of shape (2, 3, 4)"),
}


@pytest.fixture
def entry(tmp_path):
    path = tmp_path / "silent.py"
    path.write_text("class Silent:\n    def step(self, packet):\n        return None\n")
    return f"{path}:Silent"


def refused(capsys, entry, folder, out, challenge="imagery"):
    code = arena(
        ["run", entry, "--challenge", challenge, "--data", str(folder), "--out", str(out), "--sandbox", "none"]
    )
    error = [line for line in capsys.readouterr().err.splitlines() if "WARNING" not in line]
    assert code == 2, error
    assert len(error) == 1, error
    assert "Traceback" not in error[0]
    assert not out.exists()
    assert not [name for name in os.listdir(out.parent) if name.endswith(".part")]
    return error[0]


@pytest.mark.parametrize("case", CASES)
def test_bad_block(case, tmp_path, capsys, entry):
    content, says = CASES[case]
    path = tmp_path / "data" / "S01" / "block_1.npz"
    path.parent.mkdir(parents=True)
    np.savez(path, **content)
    line = refused(capsys, entry, tmp_path / "data", tmp_path / "run")
    assert says in line
    assert "block_1.npz" in line


def test_bad_folders_and_files(tmp_path, capsys, entry):
    out = tmp_path / "run"
    assert "no such data folder" in refused(capsys, entry, tmp_path / "nothing", out)
    (tmp_path / "empty").mkdir()
    assert "no recordings in it" in refused(capsys, entry, tmp_path / "empty", out)
    assert "unknown challenge 'chess'" in refused(capsys, entry, tmp_path / "empty", out, "chess")
    marker = tmp_path / "ran"

    class Touch:
        def __reduce__(self):
            return os.system, (f"touch {marker}",)

    path = tmp_path / "hostile" / "S01" / "block_1.pkl"
    path.parent.mkdir(parents=True)
    path.write_bytes(pickle.dumps(Touch()))
    assert "refused" in refused(capsys, entry, tmp_path / "hostile", out)
    assert not marker.exists()
    path.write_bytes(pickle.dumps(good())[:5000])
    assert "block_1.pkl: not a readable pickle" in refused(capsys, entry, tmp_path / "hostile", out)
    path.write_bytes(pickle.dumps(["no", "dict"]))
    assert "contains a list, not a dict" in refused(capsys, entry, tmp_path / "hostile", out)


def test_masked_truth_of_every_challenge_is_refused(tmp_path, capsys, entry):
    for name in ("turing", "imagery", "speller", "liveness", "rehab"):
        book = rulebook(name)
        data = make_data(book, 9000, {10: min(book.opens - book.forbidden), 8000: 241})
        data[-1] = book.masked_trigger(data[-1].astype(int))
        path = tmp_path / name / "S01" / "block_1.npz"
        path.parent.mkdir(parents=True)
        np.savez(path, data=data, srate=book.rate, ch_names=np.array(book.channels))
        line = refused(capsys, entry, tmp_path / name, tmp_path / "run", name)
        assert "truth" in line, (name, line)


def test_a_liveness_trial_without_its_end_is_a_data_error(tmp_path, capsys, entry):
    book = rulebook("liveness")
    path = tmp_path / "data" / "S01" / "block_1.npz"
    path.parent.mkdir(parents=True)
    data = make_data(book, 9000, {10: 129, 4000: 130, 8000: 241})
    np.savez(path, data=data, srate=250, ch_names=np.array(book.channels))
    assert "has no 241 before the next trial" in refused(capsys, entry, tmp_path / "data", tmp_path / "run", "liveness")


def test_an_unwritable_place_is_told(tmp_path, capsys, entry):
    path = tmp_path / "data" / "S01" / "block_1.npz"
    path.parent.mkdir(parents=True)
    np.savez(path, **good())
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    code = arena(
        [
            "run",
            entry,
            "--challenge",
            "imagery",
            "--data",
            str(tmp_path / "data"),
            "--out",
            str(blocker / "run"),
            "--sandbox",
            "none",
        ]
    )
    assert code == 2
    assert "cannot be written" in capsys.readouterr().err
