"""What is wrong with an entry can be said in both languages, also after it came out of a box."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from bciarena.entries import telling
from bciarena.entries.telling import Told, read, tell, written

FOLDER = Path(telling.__file__).parent
ENGLISH, CHINESE = (
    tomllib.loads((FOLDER / f"words.{language}.toml").read_text("utf-8"))["told"] for language in ("en", "zh")
)


def test_the_same_keys_and_places_in_both_languages() -> None:
    assert ENGLISH.keys() == CHINESE.keys()
    for key, text in ENGLISH.items():
        assert set(re.findall(r"{(\w+)}", text)) == set(re.findall(r"{(\w+)}", CHINESE[key])), key
        assert re.search(r"[\u4e00-\u9fff]", CHINESE[key]), key
        assert text.count("\n") == CHINESE[key].count("\n"), key  # a problem, then its remedy


def test_every_key_is_used_and_there() -> None:
    speaking = [*FOLDER.glob("*.py"), FOLDER.parent / "service" / "uploads.py"]
    text = "\n".join(path.read_text("utf-8") for path in speaking)
    assert set(re.findall(r'tell\(\s*"([\w.]+)"', text)) <= set(ENGLISH)
    unused = {key for key in ENGLISH if f'"{key}"' not in text}
    assert unused == {"archive.link", "archive.special", "archive.password"}  # named by what a member is


def test_a_message_within_a_message_is_said_again() -> None:
    where = tell("list.at_line", name="requirements.txt", number=3)
    told = tell("list.problem", why=tell("list.option", where=where, line="'-i {x}'"), around=tell("list.around"))
    again = read(json.loads(json.dumps(written(told))))
    assert isinstance(again, Told)
    assert again == told
    assert again.said("zh").startswith("依赖清单：requirements.txt 第 3 行：'-i {x}' 是选项；只接受包名与版本\n")
    shown = again.changed(lambda text: text.replace("requirements", "list"))
    assert "list.txt, line 3: '-i {x}' is an option" in shown


@pytest.mark.parametrize(
    "said",
    [
        {"key": "nothing.like.it", "a": 1},
        {"key": "list.option"},
        {"key": ["list.option"], "where": {"key": {}}},
        {"where": "x"},
        "plain\x1b[31m",
        7,
    ],
)
def test_a_box_may_say_anything(said: object) -> None:
    words = read(said)
    assert not isinstance(words, Told)
    assert len(words) <= telling.MOST
    assert "\x1b" not in words
