"""What may be shown and exported of a stranger's words."""

from __future__ import annotations

import json

import pytest

from bciarena.plaintext import clean, json_text, one_line, quoted, table_cell

HOSTILE = {
    "escape": "\x1b[2J\x1b]0;title\x07",
    "C1": "\x9b2J\x90",
    "bidi": "\u202egnp.exe\u2066\u200f",
    "return": "harmless\rarena: our fault",
    "line separator": "a\u2028b\u0085",
    "surrogate": "a\udcffb",
    "zero width": "ad\u200bmin\ufeff",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_acts_on_a_terminal(text: str) -> None:
    for shown in (clean(text), one_line(text), json_text({"a": [text]}), str(table_cell(text))):
        assert not any(sign in shown for sign in "\x1b\x07\x9b\x90\u202e\u2066\u200f\r\u2028\u0085\udcff\u200b\ufeff")
        shown.encode()
    assert json.loads(json_text({"a": [text]})) == {"a": [text]}  # JSON loses nothing


def test_what_people_write_stays() -> None:
    text = "任务\u3000第 1 次: 50 µV, naïve, 😀\n\tnext"
    assert clean(text) == text
    assert one_line("a\n b\tc") == "a b c"
    assert one_line("x" * 50, 10) == "x" * 10 + " ..."


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", *"＝＋－＠"]
)
def test_a_cell_is_no_formula(text: str) -> None:
    assert str(table_cell(text)).startswith("'")


def test_other_cells_stay() -> None:
    for value in ("-1", "+2.5e3", "110000", "", 7, None, 0.5, "a=b"):
        assert table_cell(value) == value


def test_no_line_of_an_entry_passes_for_ours() -> None:
    said = quoted("harmless\narena: our fault: \x1b[2J\r\nnote: x\u2028arena: ok\x85y")
    assert all(line.startswith("| ") for line in said.splitlines())
    assert "\x1b" not in said
