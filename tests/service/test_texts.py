"""Both languages say everything."""

from __future__ import annotations

import re
import string
from pathlib import Path

import bciarena.service
from bciarena.contests import RULEBOOKS, contest
from bciarena.report.part import part_of
from bciarena.service.texts import LANGUAGES
from bciarena.service.words import challenge_title

EN, ZH = LANGUAGES["en"], LANGUAGES["zh"]
HOME = Path(bciarena.service.__file__).parent


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_the_same_keys_and_places_in_both_languages():
    assert EN.keys() == ZH.keys()
    for key in EN:
        assert places(EN[key]) == places(ZH[key]), key
        assert EN[key].strip()
        assert ZH[key].strip()


def test_chinese_is_chinese():
    plain = [key for key in EN if not re.search(r"[\u4e00-\u9fff]", ZH[key])]
    assert set(plain) <= {"metric.itr", "metric.block", "roles.no"}


def test_every_key_that_is_used_is_there():
    rooms = "|".join(sorted({key.split(".")[0] for key in EN}))
    used = set()
    for path in [*HOME.rglob("*.html"), *HOME.rglob("*.py")]:
        if path.parent.name != "texts":
            used |= set(re.findall(rf"""["']((?:{rooms})\.[a-z_0-9]*[a-z0-9])["']""", path.read_text("utf-8")))
    used = {key for key in used if not key.endswith((".html", ".id", ".json", ".toml", ".py", ".js"))}
    assert used - EN.keys() == set()


def test_every_challenge_and_column_has_a_name():
    for book in RULEBOOKS.values():
        for language in LANGUAGES:
            assert challenge_title(language, book.name) not in ("", book.name)
            own = contest(book).words[language].get("metrics", {})
            for column in part_of(book).columns:
                assert column in own or f"metric.{column}" in LANGUAGES[language]


def test_every_act_in_the_audit_log_has_a_name():
    for path in HOME.rglob("*.py"):
        for what in re.findall(r'record\([^"]*"(\w+)"', path.read_text("utf-8")):
            assert f"act.{what}" in EN, (path.name, what)
