"""What was once spelled in many places is spelled in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bciarena.errors import BadInput
from bciarena.writing import wanted_file, wanted_folder, whole_file, whole_folder

SRC = Path(__file__).resolve().parents[1] / "src" / "bciarena"
ONCE = {
    'environ.get("XDG_CACHE_HOME': {"places.py"},
    "from rich.progress import": {  # demo names its type; the speller's own commands track
        "bars.py",
        "demo.py",
        "contests/speller/fit.py",
        "contests/speller/rest.py",
    },
    "PR_SET_PDEATHSIG =": {"processes.py"},
    "os.getpid()}.part": {"writing.py"},
    '"ledger.jsonl"': {"runs/folder.py", "runs/schema.py"},
    '"think.npz"': {"runs/folder.py"},
    '"layout.json"': {"runs/folder.py", "runs/schema.py"},
    '"output.jsonl"': {"runs/folder.py", "runs/schema.py"},
}
"""Words that give a second spelling away, and the files that may hold them."""


@pytest.mark.parametrize("words", ONCE)
def test_spelled_in_one_place(words):
    found = {path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py") if words in path.read_text("utf-8")}
    assert found == ONCE[words]


@pytest.mark.parametrize("kind", [whole_file, wanted_file])
def test_a_file_appears_whole_or_not_at_all(tmp_path, kind):
    path = tmp_path / "new" / "file.txt"
    with pytest.raises(ZeroDivisionError), kind(path) as beside:  # noqa: PT012
        beside.write_text("half")
        1 / 0  # noqa: B018
    assert not list(path.parent.iterdir())
    with kind(path) as beside:
        beside.write_text("whole")
        assert not path.exists()
    assert [item.name for item in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize("kind", [whole_folder, wanted_folder])
def test_a_folder_appears_whole_and_replaces_only_when_told(tmp_path, kind):
    path = tmp_path / "out"
    with pytest.raises(ZeroDivisionError), kind(path) as beside:  # noqa: PT012
        (beside / "half").touch()
        1 / 0  # noqa: B018
    assert not list(tmp_path.iterdir())
    with kind(path) as beside:
        (beside / "one").touch()
    with pytest.raises(BadInput, match="not empty"), kind(path):
        raise AssertionError("never entered")
    with kind(path, force=True) as beside:
        (beside / "two").touch()
        assert (path / "one").exists()
    assert [item.name for item in path.iterdir()] == ["two"]
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="is a file"), kind(tmp_path / "file", force=True):
        raise AssertionError("never entered")


def test_what_cannot_be_written_is_told_in_one_line(tmp_path):
    with pytest.raises(BadInput, match="cannot be written"), wanted_folder(tmp_path / "out") as beside:
        (beside / "missing" / "file").touch()
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"), wanted_file(tmp_path / "file" / "below"):
        raise AssertionError("never entered")
