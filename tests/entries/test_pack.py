"""Packing: compiled by the asked Python, without sources, the same bytes every time, and it opens again."""

from __future__ import annotations

import os
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.contests import rulebook
from bciarena.entries import interpreter_for, open_entry
from bciarena.entries.packing import pack
from bciarena.errors import BadInput, EntryFailed
from tests.entries.test_package import MI, write

FILES: dict[str, str | bytes] = {
    "main.py": "boom",
    "Framework/x.py": "boom",
    "Algorithm/AlgorithmImplementMI.py": "from Algorithm.near import VALUE\n" + MI,
    "Algorithm/near.py": "VALUE = 5\n",
    "Algorithm/model.bin": b"\0\1",
    "config.toml": 'challenge = "imagery"\npython = "3.8"\n',
    "requirements.txt": "# nothing\n",
}
PACKED = {
    "Algorithm/AlgorithmImplementMI.pyc",
    "Algorithm/near.pyc",
    "Algorithm/model.bin",
    "config.toml",
    "requirements.txt",
}


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
@pytest.mark.parametrize("version", [None, "3.10"])
def test_packed_and_opened(tmp_path: Path, ending: str, version: str | None) -> None:
    folder, out = write(tmp_path / "e", FILES), tmp_path / f"e{ending}"
    done = pack(str(folder), rulebook("imagery"), out, version)
    assert set(done.names) == PACKED
    assert done.python == (version or "3.8")
    with open_entry(str(out), rulebook("imagery")) as package:
        assert package.target == "Algorithm/AlgorithmImplementMI.pyc:AlgorithmImplementMI"
        assert (package.python, package.dialect) == (version or "3.8", "A")
        program = "import Algorithm.near as near; print(near.VALUE, near.__file__)"
        executable = interpreter_for(package).executable
        seen = subprocess.run([executable, "-c", program], cwd=package.root, capture_output=True, text=True, check=True)
        assert seen.stdout.startswith("5 ")
        assert seen.stdout.strip().endswith("near.pyc")
    if ending == ".zip":
        with zipfile.ZipFile(out) as archive:
            assert archive.namelist() == sorted(PACKED)
    else:
        with tarfile.open(out) as tar:
            assert tar.getnames() == sorted(PACKED)
    assert (folder / "Algorithm" / "near.py").exists()


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_the_same_bytes_from_another_place_at_another_time(tmp_path: Path, ending: str) -> None:
    first = pack(str(write(tmp_path / "a", FILES)), rulebook("imagery"), tmp_path / f"a{ending}")
    second = write(tmp_path / "somewhere" / "else", FILES)
    for path in second.rglob("*"):
        os.utime(path, (time.time() + 5000, 12345))
    other = pack(str(second), rulebook("imagery"), tmp_path / f"b{ending}")
    assert first.file.read_bytes() == other.file.read_bytes()
    assert first.digest == other.digest


def test_a_plain_class_is_packed_with_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"mine.py": "class Mine:\n    def step(self, packet):\n        return None\n"})
    done = pack(f"{tmp_path}/mine.py:Mine", rulebook("imagery"), tmp_path / "m.zip")
    assert set(done.names) == {"mine.pyc", "config.toml"}
    with open_entry(str(done.file), rulebook("imagery")) as package:
        assert (package.dialect, package.target, package.python) == ("D", "mine.pyc:Mine", None)


def test_a_class_in_a_file_of_another_name(tmp_path: Path) -> None:
    """Sources show their classes, compiled files do not: the packed configuration names it."""
    folder = write(tmp_path / "e", {"Algorithm/decode.py": MI, "config.json": '{"team": "队"}'})
    done = pack(str(folder), rulebook("imagery"), tmp_path / "e.zip")
    assert done.target == "Algorithm/decode.pyc:AlgorithmImplementMI"


def test_what_cannot_be_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "e", {**FILES, "Algorithm/near.py": "match x:\n    case 1: pass\n"})
    with pytest.raises(EntryFailed, match=r"Python 3\.8 cannot compile it.*near\.py.*line 1"):
        pack(str(folder), rulebook("imagery"), tmp_path / "a.zip")
    pack(str(folder), rulebook("imagery"), tmp_path / "a.zip", "3.10")
    with pytest.raises(BadInput, match=r"name a \.zip or a \.tar\.gz"):
        pack(str(folder), rulebook("imagery"), tmp_path / "a.rar")
    with pytest.raises(BadInput, match="cannot be written"):
        pack(str(folder), rulebook("imagery"), tmp_path / "a.zip" / "b.zip", "3.10")
    assert main(["pack", str(folder), "--challenge", "imagery", "-o", str(tmp_path / "b.zip")]) == 1
    assert main(["pack", "nowhere", "--challenge", "imagery", "-o", str(tmp_path / "b.zip")]) == 2
    assert main(["pack", str(folder), "--challenge", "imagery", "--python", "3.77", "-o", str(tmp_path / "b.zip")]) == 2
    assert capsys.readouterr().err.count("\n") == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "e"]


def test_what_a_plain_entry_imports_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    """A compiled file does not show what it imports."""
    write(tmp_path, {"mine.py": "import helper\nclass Entry:\n    step = helper.step\n", "helper.py": "step = len\n"})
    packed = pack(f"{tmp_path}/mine.py:Entry", rulebook("imagery"), tmp_path / "mine.zip")
    with open_entry(str(packed.file), rulebook("imagery")) as package:
        assert (package.root / "helper.pyc").is_file()


def test_a_list_that_no_site_would_take_is_not_packed(tmp_path: Path) -> None:
    """Unless another list is given: then what can be used of it is packed, also of an environment.yml."""
    entry = write(tmp_path / "e", {"Algorithm/AlgorithmImplementMI.py": "class AlgorithmImplementMI:\n    pass\n"})
    (entry / "requirements.txt").write_text("numpy\n-i https://example.org/simple\n")
    with pytest.raises(EntryFailed, match="arena check --fix writes the other lines"):
        pack(str(entry), rulebook("imagery"), tmp_path / "e.zip")
    (more := tmp_path / "more.txt").write_text("scipy\n")
    told = pack(str(entry), rulebook("imagery"), tmp_path / "e.zip", requirements=more).warnings
    assert any("left out, since --requirements" in words for words in told)
    (entry / "requirements.txt").unlink()
    (entry / "environment.yml").write_text("dependencies:\n  - numpy=1.22.3\n")
    for file, first in (("e.zip", "numpy"), ("y.zip", "numpy==1.22.3")):
        if file == "y.zip":
            pack(str(entry), rulebook("imagery"), tmp_path / file, requirements=more)
        with open_entry(str(tmp_path / file), rulebook("imagery")) as package:
            assert package.requirements is not None
            assert package.requirements.read_text() == f"{first}\nscipy\n"
