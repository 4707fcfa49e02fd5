"""The hub without sockets: who hears what, and what happens when someone goes away."""

from __future__ import annotations

import json

import pytest

from bciarena.contests import rulebook
from bciarena.errors import BadInput
from tests.lab.blocks import patient, plan, rounds_block, word_block


class Listener:
    def __init__(self):
        self.messages = []

    def __call__(self, message):
        json.dumps(message)  # everything must be able to travel
        self.messages.append(message)

    def last(self, kind):
        return next(m for m in reversed(self.messages) if m["type"] == kind)


@pytest.fixture
def lab(tmp_path):
    hub = patient(word_block("HI", 1, 1), tmp_path / "log.jsonl")
    people = {role: Listener() for role in ("stimulus", "operator", "watcher")}
    for role, listener in people.items():
        hub.join(role, listener)
    return hub, people


def test_a_block_from_hello_to_the_end(lab, tmp_path):
    hub, people = lab
    hub.hear("stimulus", {"type": "hello", "refresh_hz": 60.0}, people["stimulus"])
    assert people["stimulus"].last("timeline")["timeline"]["challenge"] == "speller/1"
    hub.hear("operator", {"type": "command", "name": "start"}, people["operator"])
    assert people["stimulus"].last("command")["name"] == "start"
    for index, step in enumerate(hub.steps):
        hub.hear(
            "stimulus",
            {"type": "step", "index": index, "code": step["code"], "hub_s": 100.0 + index},
            people["stimulus"],
        )
    codes = [m["code"] for m in people["watcher"].messages if m["type"] == "step" and m["code"]]
    assert codes == [code for _, code in hub.timeline.events]
    hub.hear("stimulus", {"type": "frames", "intervals_ms": [16.7] * 10, "dropped": 2}, people["stimulus"])
    hub.hear("watcher", {"type": "answer", "value": 8}, people["watcher"])
    assert people["stimulus"].last("answer")["value"] == "8"
    hub.hear("stimulus", {"type": "stopped", "why": "finished", "dropped": 2}, people["stimulus"])
    assert people["watcher"].last("stopped")["dropped"] == 2
    status = people["operator"].last("status")
    assert (status["trial"], status["trials"], status["dropped"], status["answers"]) == (2, 2, 2, ["H"])
    kinds = [json.loads(line)["type"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {"step", "frames", "answer", "command", "message"} <= set(kinds)


def test_a_reloaded_page_goes_on_with_the_next_trial(lab):
    hub, people = lab
    hub.hear("stimulus", {"type": "hello"}, people["stimulus"])
    hub.hear("operator", {"type": "command", "name": "start"}, people["operator"])
    first = hub.opening[0]
    hub.hear("stimulus", {"type": "step", "index": first, "hub_s": 1.0}, people["stimulus"])
    hub.leave("stimulus", people["stimulus"])
    assert "went away in trial 1; data so far is kept" in people["operator"].last("status")["message"]
    again = Listener()
    hub.join("stimulus", again)
    hub.hear("stimulus", {"type": "hello"}, again)
    start = again.last("timeline")["from_step"]
    assert first < start <= hub.opening[1]
    assert hub.steps[start]["kind"] == "cue"


def test_a_second_page_takes_over_and_two_operators_are_told(lab):
    hub, people = lab
    second = Listener()
    hub.join("stimulus", second)
    assert people["stimulus"].last("command")["name"] == "abort"
    assert "takes over" in people["operator"].last("status")["message"]
    hub.join("operator", Listener())
    assert people["operator"].last("status")["operators"] == 2


def test_nonsense_is_ignored(lab):
    hub, people = lab
    for message in ({}, {"type": "explode"}, {"type": "step", "index": 10**9}, {"type": "command", "name": "rm"},
                    {"type": "step", "index": "x"}, {"type": 5}):  # fmt: skip
        hub.hear("stimulus", message, people["stimulus"])
    assert hub.index == -1
    assert not hub.running


def test_a_log_that_cannot_be_written_does_not_stop_the_block(lab, tmp_path):
    hub, people = lab
    hub.log = tmp_path / "no" / "such" / "folder.jsonl"
    hub.hear("stimulus", {"type": "step", "index": 1, "hub_s": 1.0}, people["stimulus"])
    assert hub.index == 1
    assert "goes on without it" in hub.message


def test_start_without_a_page_is_told():
    hub, operator = patient(word_block("A", 1, 1)), Listener()
    hub.join("operator", operator)
    hub.hear("operator", {"type": "command", "name": "start"}, operator)
    assert "open it first" in operator.last("status")["message"]


def test_plans():
    word = word_block("NO 1.", 1, 1)
    assert [s.code for s in word.of("flicker")] == [14, 15, 37, 28, 39]
    game = rounds_block(2, 1, 1, 5)
    book = rulebook("turing")
    assert 8 <= sum(code in book.opens for _, code in game.events) <= 12
    assert plan("speller", None, 1, 2, 0, None, None).block == 2
    assert plan("liveness", None, 4, 1, 0, None, None).events[1][1] == 132
    for wrong in (("speller", "É"), ("imagery", "A")):
        with pytest.raises(BadInput, match="--word"):
            plan(wrong[0], None, 1, 1, 0, wrong[1], None)
    with pytest.raises(BadInput, match="--block 9"):
        plan("speller", None, 1, 9, 0, None, None)
