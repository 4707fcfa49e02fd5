"""The hub without sockets: who hears what, and what happens when someone goes away."""

from __future__ import annotations

import json
import threading

import pytest

from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.live.hubline import LabPage
from tests.lab.blocks import patient, plan, rounds_block, word_block
from tests.lab.conftest import serving


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


def test_a_trial_spoilt_by_the_signal_is_shown_again(tmp_path):
    log, block = tmp_path / "log.jsonl", word_block("ABC")
    hub, page = patient(block, log, repeat=True), Listener()
    hub.join("stimulus", page)
    hub.hear("stimulus", {"type": "hello", "refresh_hz": 60.0}, page)
    hub.running = True
    at = hub.opening[1]
    for index in range(at + 3):  # A is over, B's flicker is, too
        hub.hear("stimulus", {"type": "step", "index": index, "hub_s": 100.0 + index}, page)
    first, second = (100.0 + k for k in hub.opening[:2])
    hub.spoil(first - 50, first - 40, "before any trial")
    assert not hub.spoilt
    hub.spoil(second + 0.5, second + 0.8, "7 samples were lost")
    hub.spoil(second + 0.6, second + 0.9, "and more of it")
    assert hub.spoilt == {1: "7 samples were lost"}
    codes = [hub.steps[k]["code"] for k in hub.opening]
    assert codes == [1, 2, 3, 2]
    assert [step["code"] for step in page.last("plan")["timeline"]["steps"]] == [step["code"] for step in hub.steps]
    assert "trial 2 cannot be used: 7 samples were lost; it will be shown again" in hub.message
    again = patient(block, None, repeat=True)  # the session was cut off after that
    again.show(block, log)
    assert [again.steps[k]["code"] for k in again.opening] == codes
    # Too late for the last: the page may be behind it already.
    for index in range(at + 3, len(hub.steps)):
        hub.hear("stimulus", {"type": "step", "index": index, "hub_s": 100.0 + index}, page)
    hub.spoil(100.0 + hub.opening[2], 101.0 + hub.opening[2], "a gap")
    assert len(hub.opening) == 4
    assert hub.message.endswith("a gap")


def test_what_happens_is_said_in_the_operators_language(tmp_path):
    from bciarena.live.notes import NOTE, told

    hub, operator = patient(word_block("A"), tmp_path / "log.jsonl", language="zh"), Listener()
    hub.join("operator", operator)
    hub.hear("operator", {"type": "command", "name": "start"}, operator)
    assert operator.last("status")["message"] == "还没有刺激页面：请先打开"
    hub.hear("watcher", told("note", NOTE("lost_told", why=NOTE("lost", n=5, at=1.5))), operator)
    assert operator.last("status")["message"] == "1.500 秒处丢失 5 个采样点；没有填补"
    hub.hear("watcher", told("stream", NOTE("stream", name="amp", n=64, rate=250, unit="V")), operator)
    assert operator.last("status")["stream"] == "amp：64 通道，250 Hz，V"
    hub.hear("watcher", told("note", "words of an entry"), operator)
    assert operator.last("status")["message"] == "words of an entry"
    kept = [json.loads(line).get("text") for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert "5 samples were lost at 1.500 s; nothing was filled in" in kept  # logs are English


def test_who_decodes_is_told_the_measured_rate():
    hub, watcher, page = patient(word_block("A")), Listener(), Listener()
    hub.hear("watcher", {"type": "subscribe"}, watcher)
    assert watcher.last("screen") == {"type": "screen", "page": False, "refresh_hz": None}
    hub.join("watcher", watcher)
    hub.join("stimulus", page)
    with serving(hub) as address:  # a run that is started now waits until the page has measured
        run = LabPage(address, lambda: None, print)
        threading.Timer(0.3, hub.hear, ("stimulus", {"type": "hello", "refresh_hz": 59.94}, page)).start()
        assert run.refresh_hz(30) == 59.94
        run.close()
    assert watcher.last("screen")["refresh_hz"] == 59.94
