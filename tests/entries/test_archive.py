"""Hostile and broken uploads: every one is refused in one line, and nothing is left behind."""

from __future__ import annotations

import io
import os
import runpy
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from bciarena.contests import rulebook
from bciarena.entries import open_entry
from bciarena.entries.archive import unpack
from bciarena.errors import BadInput

CASES = sorted((Path(__file__).parents[2] / "testsuite" / "archive").iterdir())
ENTRY = "class AlgorithmImplementMI:\n    def run(self):\n        pass\n"


def make(case: Path, archive: Path) -> None:
    runpy.run_path(str(case / "make.py"))["make"](archive, ENTRY)


@pytest.fixture
def private_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hostile_archives_are_refused(case: Path, tmp_path: Path, private_tmp: Path) -> None:
    archive = tmp_path / "upload.zip"
    make(case, archive)
    words = tomllib.loads((case / "expected.toml").read_text())["refused"]
    with pytest.raises(BadInput) as caught, open_entry(str(archive), rulebook("imagery")):
        pass
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(private_tmp.iterdir())
    assert not Path("/tmp/escaped.py").exists()
    assert not list(tmp_path.rglob("escaped.py"))


def test_a_member_that_grows_stops_at_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bciarena.entries.archive.MAX_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("Algorithm/x", b"x" * 1001)
    (tmp_path / "out").mkdir()
    with pytest.raises(BadInput, match="unpacks to more than"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


def test_names_from_chinese_windows(tmp_path: Path) -> None:
    """Explorer writes GBK names without saying so; 7-Zip on Linux writes UTF-8 with the flag."""
    with zipfile.ZipFile(tmp_path / "gbk.zip", "w") as archive:
        archive.writestr("Algorithm/AAAA.txt", b"model")
    raw = (tmp_path / "gbk.zip").read_bytes().replace(b"AAAA", "模型".encode("gbk"))
    (tmp_path / "gbk.zip").write_bytes(raw)
    with zipfile.ZipFile(tmp_path / "utf8.zip", "w") as archive:
        archive.writestr("Algorithm/模型.txt", b"model")
    with tarfile.open(tmp_path / "gbk.tar.gz", "w:gz", format=tarfile.GNU_FORMAT, encoding="gbk") as archive:
        info = tarfile.TarInfo("Algorithm/模型.txt")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"model"))
    for name in ("gbk.zip", "utf8.zip", "gbk.tar.gz"):
        out = tmp_path / name.replace(".", "_")
        out.mkdir()
        unpack(tmp_path / name, out)
        assert (out / "Algorithm" / "模型.txt").read_bytes() == b"model"


def test_a_million_files_are_refused_within_bounds(tmp_path: Path) -> None:
    """In a process of its own: neither its memory nor its time grows with the list."""
    case = next(case for case in CASES if case.name == "million_files")
    program = (
        "import resource, runpy, sys, time; from pathlib import Path\n"
        "from bciarena.entries.archive import unpack\n"
        "path, out = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "began = time.monotonic(); before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: unpack(path, out)\n"
        "except Exception as error: print(type(error).__name__)\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "assert grown < 50_000 and time.monotonic() - began < 5, (grown, time.monotonic() - began)\n"
    )
    make(case, tmp_path / "a.zip")
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "a.zip", tmp_path / "out"], capture_output=True, text=True
    )
    assert done.stdout.strip() == "BadInput", done.stderr
    assert not os.listdir(tmp_path / "out")
