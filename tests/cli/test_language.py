"""Lines of the command line in the reader's language: the catalogue is complete where people look, and never stale."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import bciarena
from bciarena.cli import main
from bciarena.words import catalogues, reader_language, shown

SRC = Path(bciarena.__file__).parent
CATALOGUE = {
    (path.parent.name, table): sentences
    for path in catalogues("zh")
    for table, sentences in tomllib.loads(path.read_text("utf-8")).items()
}
CHINESE = re.compile(r"[\u4e00-\u9fff]")
RAISED = {"BadInput", "EntryFailed"}
ROOMS = (
    *("audit", "bench", "bundles", "cli", "contests", "database", "decoders", "entries", "importing", "jobs"),
    *("live", "moabb", "protocol", "recording", "release", "report", "runs", "sandbox", "service", "session", "upkeep"),
    *("wrapping", "clocks.py", "contest_folders.py", "demo.py", "inprocess.py", "words.py", "writing.py"),
)
"""Where every refusal has its Chinese."""
CODE = re.compile("[a-z_]+")
"""A verdict, which is an argument of EntryFailed, too."""
COMPOSED = {
    "{0}: [{1}] {2}: arena {3} has no such option{4}",
    "{0}: [{1}]: there is no such command{2}",
    "job {0}: {1} (state {2})",
    "{0}: {1} problem{2} to fix",
}
"""Their ends are sentences of their own; the catalogue has both ends."""
MAY_LACK = 0.03
"""So that a new sentence or a changed one does not stop the work; the failure lists what is due."""
HOLE = re.compile(r"\{(\d+)\}")


def template(node: ast.AST) -> str:
    """A sentence with {0}, {1} where something is filled in; empty for what is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts, holes = [], 0
        for value in node.values:
            if isinstance(value, ast.Constant):
                parts.append(str(value.value))
            else:
                parts.append(f"{{{holes}}}")
                holes += 1
        return "".join(parts)
    return ""


def refusals(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RAISED:
            yield from (said for said in map(template, node.args) if said and not CODE.fullmatch(said))


def files(room: str) -> list[Path]:
    place = SRC / room
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_every_refusal_people_meet_is_in_the_catalogue(room) -> None:
    known = [
        sentence for path in files(room) for sentence in refusals(path) if re.search("[a-z]{3}", HOLE.sub("", sentence))
    ]
    missing = [
        sentence
        for sentence in known
        if not CHINESE.search(shown(HOLE.sub("X", sentence), "zh")) and sentence not in COMPOSED
    ]
    assert len(missing) <= MAY_LACK * len(known), missing


def test_no_line_of_the_catalogue_is_stale() -> None:
    """Every English sentence still stands in the code (or in Click's, for wrong use of the command line)."""
    texts: set[str] = set()
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            texts.add(template(node))
    whole = "\n".join(texts)
    by_others = re.compile(
        r"^(No such|Missing|Option|Got|Invalid|'\{0\}' is not|\{0\} is not in the range|Show this|Input should)"
    )
    system = {"Permission denied", "No space left on device", "Address already in use", "Not a directory",
              "Is a directory", "Read-only file system"}  # fmt: skip
    stale = []
    for (_, table), sentences in CATALOGUE.items():
        for english in sentences if table != "composed" else ():
            longest = max(re.split(r"\{\d+\}", english), key=len).strip()
            if longest not in whole and english not in system and not by_others.match(english):
                stale.append(english)
    assert len(stale) <= MAY_LACK * sum(map(len, CATALOGUE.values())), stale


def test_what_is_filled_in_is_the_same_in_both() -> None:
    for sentences in CATALOGUE.values():
        for english, chinese in sentences.items():
            assert sorted(set(HOLE.findall(english))) == sorted(set(HOLE.findall(chinese))), english


@pytest.mark.parametrize(
    ("variables", "speaks"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "ARENA_LANG": "en"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
    ],
)
def test_the_locale_chooses(monkeypatch, variables, speaks) -> None:
    for name in ("ARENA_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert reader_language() == speaks


def test_an_error_in_chinese(tmp_path, capsys) -> None:
    assert main(["--lang", "zh", "run", "@imagery", "--data", str(tmp_path / "none")]) == 2
    assert f"arena: {tmp_path / 'none'}：没有这个数据文件夹" in capsys.readouterr().err
    assert main(["--lang", "zh", "nosuch"]) == 2
    assert "没有命令“nosuch”" in capsys.readouterr().err
    assert main(["run", "@imagery", "--data", str(tmp_path / "none")]) == 2  # the next command speaks English again
    assert "no such data folder" in capsys.readouterr().err


def test_notes_are_translated_part_by_part() -> None:
    said = shown("note: 12 s passed before it asked for its first packet; they count in its budget", "zh")
    assert said == "说明：请求第一个数据包之前用了 12 秒，计入总时限"
    assert shown("a sentence nobody knows: with a colon", "zh") == "a sentence nobody knows: with a colon"


def test_help_in_chinese(capsys) -> None:
    assert main(["--lang", "zh", "run", "--help"]) == 0
    assert "按赛题规则评分" in capsys.readouterr().out
