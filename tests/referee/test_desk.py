"""The desk's lines, field by field, on both clocks; and the ledger they go to."""

from __future__ import annotations

import io
import json

import pytest

from bciarena.contests import rulebook
from bciarena.referee.desk import Desk
from bciarena.referee.ledger import Ledger, line_text

BOOK = rulebook("imagery")  # 250 Hz, packets of 10 samples


def test_time_before_the_first_packet_is_not_thought_time_and_a_block_starts_the_clock_again():
    desk = Desk(BOOK, "think")
    desk.handed_out(1, 1, 1, 10, 5.0)
    assert desk.virtual_s == pytest.approx(0.04)
    desk.handed_out(1, 1, 2, 20, 1.0)
    assert desk.virtual_s == pytest.approx(1.04)
    desk.handed_out(1, 2, 1, 10, 1.0)
    assert desk.virtual_s == pytest.approx(0.04)


def test_a_report_says_where_it_was_made_and_how_far_behind():
    desk = Desk(BOOK, "think")
    desk.handed_out(1, 1, 1, 10, 0.0)
    desk.handed_out(2, 3, 1, 10, 0.0)
    desk.handed_out(2, 3, 2, 20, 0.5)
    line = {"subject": 2, "block": 3, "position": 20, "packet": 2, "value": 201, "think_s": 0.460123}
    assert desk.report(201, 0.0001234) == {**line, "think_s": 0.460123}
    assert desk.report(201, 0.1)["think_s"] == pytest.approx(0.56)


def test_a_report_before_the_first_packet_is_one_at_the_beginning():
    line = {"subject": 1, "block": 1, "position": 0, "packet": 0, "value": 201, "think_s": 0.0}
    assert Desk(BOOK).report(201, 0.0) == line


def test_on_the_data_clock_computing_takes_no_time():
    desk = Desk(BOOK, "data")
    desk.handed_out(1, 1, 1, 10, 3.0)
    desk.handed_out(1, 1, 2, 20, 3.0)
    assert desk.virtual_s == pytest.approx(0.08)
    line = {"subject": 1, "block": 1, "position": 20, "packet": 2, "value": "x", "think_s": 0.0}
    assert desk.report("x", 9.0) == line


def test_every_line_is_written_at_once_as_one_line_of_ascii():
    class Flushed(io.StringIO):
        flushes = 0

        def flush(self):
            self.flushes += 1

    file = Flushed()
    ledger = Ledger({"challenge": "imagery/1"}, file)
    ledger.append({"type": "report", "value": "左"})
    ledger.append({"type": "end"})
    assert file.flushes == 3
    assert [json.loads(line) for line in file.getvalue().splitlines()] == ledger.lines
    assert ledger.lines[0] == {"type": "header", "challenge": "imagery/1"}
    assert ledger.reports == [{"type": "report", "value": "左"}]
    assert file.getvalue().isascii()
    assert line_text({"a": 1, "b": [1, 2]}) == '{"a":1,"b":[1,2]}\n'
    with pytest.raises(ValueError, match="JSON compliant"):
        line_text({"a": float("nan")})
