"""What training may leave behind: bounded in number, depth, size and words."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bciarena.cli import main
from bciarena.cli._playing import shown_live
from bciarena.contests import rulebook
from bciarena.entries.opened import opened
from bciarena.errors import EntryFailed

pytestmark = pytest.mark.usefixtures("box_works")
ENTRY = (
    "import os\nclass Mine:\n    def step(self, packet):\n        pass\n    def fit(self, recordings):\n        pass\n"
)
SAVE = "    def save(self, out):\n"
MANY = SAVE + "        for n in range(60000):\n            os.mkdir('%s/%d' % (out, n))\n"
DEEP = SAVE + "        os.chdir(out)\n        for n in range(3000):\n            os.mkdir('d'); os.chdir('d')\n"
LARGE = SAVE + "        for n in range(6):\n            open('%s/%d' % (out, n), 'wb').truncate(1 << 30)\n"
NAMED = SAVE + ("        print('\\x1b[2J\\x9b2J hello')\n        open(out + '/a\\x1b[2J\\u202eb', 'w').write('x')\n")
SHUT = SAVE + "        os.mkdir(out + '/d'); open(out + '/d/x', 'w').write('x'); os.chmod(out + '/d', 0)\n"
REFUSES = (
    "class BadInput(Exception):\n    pass\nBadInput.__module__ = 'bciarena.errors'\n"
    "class Mine:\n    def step(self, packet):\n        pass\n    def fit(self, recordings):\n"
    "        raise BadInput('\\x1b[2J our fault: pay here\\n' + 'x' * 9000)\n"
)


def train(tmp_path: Path, data: Path, source: str) -> int:
    (tmp_path / "mine.py").write_text(source)
    return main(["train", f"{tmp_path / 'mine.py'}:Mine", "--challenge", "imagery", "--data", str(data),
                 "--out", str(tmp_path / "model")])  # fmt: skip


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (MANY, "wrote more than 4000 files and folders"),
        (DEEP, "wrote folders more than 32 deep"),
        (LARGE, "wrote more than 4096 MiB"),
    ],
)
def test_a_model_is_bounded(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], source: str, words: str
) -> None:
    began_s = time.monotonic()
    assert train(tmp_path, data, ENTRY + source) == 1
    assert f"killed: training {words}" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
    assert time.monotonic() - began_s < 60
    assert not list(Path("/tmp").glob("arena-train-*/model/d/d/d")), "nothing stays behind"


def test_names_and_words_are_shown_without_their_escapes(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, data, ENTRY + NAMED) == 0
    said = "".join(capsys.readouterr())
    assert "hello" in said
    assert not any(sign in said for sign in "\x1b\x9b\u202e")


def test_a_refusal_is_quoted(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An entry can raise a class named like ours and choose its words; they are quoted as the entry's."""
    assert train(tmp_path, data, REFUSES) == 2
    said = capsys.readouterr().err
    assert "the entry's training refused this data: '" in said
    assert "\x1b" not in said
    assert len(said) < 1000


def test_a_folder_that_cannot_be_read_is_the_entrys_failure(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, data, ENTRY + SHUT) in (0, 1)  # root reads it all the same
    assert "our fault" not in capsys.readouterr().err


def test_printed_pieces_are_joined() -> None:
    shown = shown_live()
    raw = "任务 10%\r任务 20%\r\n".encode()
    assert "".join(shown(raw[n : n + 1]) for n in range(len(raw))) == "| 任务 10%\n| 任务 20%\n| \n"


def test_a_site_keeps_smaller_models(tmp_path: Path, data: Path) -> None:
    """It keeps that of every version of every entry."""
    (tmp_path / "mine.py").write_text(ENTRY + SAVE + "        open(out + '/m', 'wb').truncate(600 << 20)\n")
    with (
        opened(f"{tmp_path / 'mine.py'}:Mine", rulebook("imagery"), ranked=True) as entry,
        pytest.raises(EntryFailed, match="training wrote more than 512 MiB"),
    ):
        entry.train(data, tmp_path / "model")
