"""A whole season by commands and pages alone: raw recordings in, jury pack out, every number counted a second time.

The contest is the speller: a session of two letters is short. In the final each of both teams plays live, one after the
other in the order drawn, on the virtual subject in front of a real browser, followed by a projector in Chinese.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bciarena.bench.parts import listening, wait_for
from bciarena.contests import rulebook
from bciarena.recording.bids import write_bids
from bciarena.recording.events import Event
from bciarena.service.keeper import work_once
from tests.browser import until
from tests.lab.conftest import free_port
from tests.service.conftest import Town, packed
from tests.service.recount import recount
from tests.service.test_browser import shot

ARENA = [sys.executable, "-m", "bciarena"]
pytestmark = pytest.mark.realtime
BOOK = rulebook("speller")
STAGE = "/contests/season/final/stage"
RAW_HZ, TRIALS = 500, 10
DECODER = """
import numpy as np
RATE, WINDOW, STEP, OUT = 250, {window}, 25, 6.0
ROWS = list(range(49, 59))


def sines():
    t = np.arange(WINDOW) / RATE
    waves = [[f(2 * np.pi * h * (8 + 0.2 * key) * t) for h in (1, 2, 3) for f in (np.sin, np.cos)] for key in range(40)]
    return np.concatenate([np.linalg.qr(np.array(one).T)[0] for one in waves], axis=1)


class Entry:
    def __init__(self):
        self.bases, self.fresh = sines(), 0
        self.forget()

    def forget(self):
        self.eeg, self.before, self.quiet = np.zeros((len(ROWS), 0)), None, True

    def step(self, packet):
        if packet.start == 0:
            self.forget()
        self.eeg = np.concatenate([self.eeg, packet.data[ROWS]], axis=1)[:, -WINDOW:]
        self.fresh += packet.data.shape[1]
        if self.eeg.shape[1] < WINDOW or self.fresh < STEP:
            return None
        self.fresh = 0
        spectrum = np.fft.rfft(self.eeg - self.eeg.mean(axis=1, keepdims=True))
        hz = np.fft.rfftfreq(WINDOW, 1 / RATE)
        own = np.linalg.qr(np.fft.irfft(spectrum * ((hz > 7) & (hz < 45)), WINDOW).T)[0]
        shared = (own.T @ self.bases).reshape(len(ROWS), 40, -1).transpose(1, 2, 0)
        found = np.linalg.eigvalsh(shared @ shared.transpose(0, 2, 1))[:, -1]
        best = int(found.argmax())
        others = np.delete(found, best)
        out = found[best] > others.mean() + OUT * others.std()
        said = best + 1 if out and best == self.before and self.quiet else None
        self.quiet = not out if said is None and self.quiet is False else self.quiet and said is None
        self.before = best if out else None
        return said
"""
QUICK, SLOW = DECODER.format(window=375), DECODER.format(window=625)
GUESS = """
class Entry:
    def step(self, packet):
        return 7 if packet.start % 4000 == 2000 else None
"""
HOSTILE = """
import os, socket, subprocess


class Entry:
    def __init__(self):
        self.found = []
        for name in ("/etc/shadow", os.path.expanduser("~"), "/proc/1/environ", "/tmp"):
            try:
                self.found += [name] if os.listdir(name) else []
            except OSError:
                pass
        for act in (lambda: socket.create_connection(("127.0.0.1", 80), 1), lambda: subprocess.run(["id"]),
                    lambda: os.kill(os.getppid(), 9)):
            try:
                act()
            except Exception as error:
                print("refused:", type(error).__name__)

    def step(self, packet):
        if packet.start > 5000:
            raise SystemExit("<script>alert(1)</script>")
        return "x" * 5000
"""
CONTEST = """
slug = "season"
title = "The season"
title_zh = "赛季"
rulebook = "speller/1"
[[award]]
name = "First prize"
name_zh = "一等奖"
teams = 1
[[award]]
name = "Second prize"
teams = 2
[[phase]]
name = "preliminary"
truth = "hidden"
audit = true
freezes = 2001-01-01T00:00:00Z
[phase.data]
folder = "{data}"
[[phase]]
name = "final"
truth = "hidden"
board = "hidden"
admits = "first"
first = 2
of = "preliminary"
carries = "entry"
stage = "live"
[phase.data]
live = true
"""
PLAN = """
challenge = "speller"
subject = 6
seed = 3
out = "session"
stream = "{stream}"
lost_ms = 1e6
repeat_void = false
[[part]]
split = "test"
blocks = [1]
options = {{ word = "HI" }}
"""


def arena(*words: object, exit_code: int = 0) -> str:
    done = subprocess.run([*ARENA, *map(str, words)], capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == exit_code, done.stderr + done.stdout
    return done.stderr if exit_code else done.stdout


def write_raw(folder: Path) -> Path:
    """An amplifier's recordings: two people, two blocks, 500 Hz, the cap upside down, an electrode too many."""
    order = (*BOOK.channels[::-1], "FT11")
    for person, name in enumerate(("anna", "bert")):
        for run in (1, 2):
            rng = np.random.default_rng(10 * person + run)
            codes = rng.permutation([*rng.integers(1, 41, TRIALS - 3), *rng.integers(101, 142, 3)])
            onsets = RAW_HZ * (2 + np.cumsum(5.5 + rng.uniform(0.6, 1.4, TRIALS)) - 5.5)
            eeg = 8 * rng.standard_normal((len(order), int(onsets[-1]) + 7 * RAW_HZ))
            t = np.arange(4 * RAW_HZ) / RAW_HZ
            for code, at in zip(codes, onsets.astype(int), strict=True):
                if code <= 40:
                    wave = sum(np.sin(2 * np.pi * h * (8 + 0.2 * (code - 1)) * t) / h for h in (1, 2, 3))
                    for channel in BOOK.channels[49:59]:
                        begin = at + RAW_HZ * 14 // 100
                        eeg[order.index(channel), begin : begin + t.size] += 3 * wave
            events = [Event(10, 242), Event(eeg.shape[1] - 10, 243)]
            for code, at in zip(codes.tolist(), onsets.astype(int).tolist(), strict=True):
                events += [Event(at, int(code)), Event(at + 4 * RAW_HZ, 241)]
            write_bids(folder, name, "speller", run, eeg.astype(np.float32), tuple(sorted(events)), RAW_HZ, order)
    return folder


@pytest.fixture
def town(tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    made = Town(tmp_path / "home", f"sqlite:///{tmp_path / 'home' / 'arena.db'}")
    yield made
    made.close()


def settled(town: Town) -> None:
    while work_once(town.site):
        pass


def enter(town: Town, name: str, source: str, folder: Path) -> tuple:
    """Somebody signs up, founds a team, uploads and submits, all by pages."""
    person = town.visitor()
    person.name = name.lower()
    person.sign_up()
    team = person.post("/teams", {"name": name}).headers["location"].split("/")[-1]
    made = person.post(f"/teams/{team}/entries", {"name": "first", "challenge": "speller"})
    entry = made.headers["location"].split("/")[-1]
    path = packed(folder / name, source)
    with open(path, "rb") as file:
        assert person.post(f"/entries/{entry}/versions", files={"package": (path.name, file)}).status_code == 303
    version = person.api("GET", f"/entries/{entry}").json()["versions"][-1]["id"]
    sent = person.post(f"/entries/{entry}/submit", {"version": str(version), "phase": "1"})
    assert sent.status_code == 303, sent.text
    return person, int(re.search(r"/runs/(\d+)", sent.headers["location"])[1])


def end_phase(olga, phase: str, **more: str) -> None:
    """The organiser's form, with the present values and an end in the past."""
    page = olga.get("/organise/season").text
    form = page.split(f'action="/organise/season/{phase}"')[1].split("</form>")[0]
    fields = dict(re.findall(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"', form))
    chosen = re.findall(r'<select name="(\w+)">(.*?)</select>', form, re.S)
    fields |= {name: found[1] for name, inner in chosen if (found := re.search(r'value="(\w*)" selected', inner))}
    ticked = set(re.findall(r'type="checkbox" name="(\w+)" value="yes" checked', form))
    boxes = set(re.findall(r'type="checkbox" name="(\w+)"', form))
    fields = {name: value for name, value in fields.items() if name not in boxes - ticked and name != "token"}
    answer = olga.post(f"/organise/season/{phase}", {**fields, "ends": "2002-01-01T00:00", **more})
    assert answer.status_code == 303, answer.text


def live_words(plan: Path, team: str, port: int) -> list[str]:
    return ["stage", "live", "season", "final", str(plan), "--team", team, "--virtual", "--port", str(port)]


def plays_live(visitor, plan: Path, team: str, page) -> dict:
    """A team's turn in front of a browser; returns what the projector was told last."""
    port, told = free_port(), {}
    with subprocess.Popen(
        [*ARENA, *live_words(plan, team, port)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as playing:
        try:
            wait_for(lambda: listening(port) or playing.poll() is not None, 300, "the lab's pages are there")
            assert playing.poll() is None, playing.communicate()[0]
            page.goto(f"http://127.0.0.1:{port}/stage")
            end = time.monotonic() + 240
            while playing.poll() is None and time.monotonic() < end:
                told = visitor.get(f"{STAGE}/state").json()["live"] or told
                time.sleep(0.3)
            said, _ = playing.communicate(timeout=60)
            assert playing.returncode == 0, said
        finally:
            playing.kill()
    return told


def test_a_season(town, tmp_path, page, browser):
    # Data out: released from raw files, looked at for leaks, offered on the contest's page.
    released = tmp_path / "released"
    arena("release", write_raw(tmp_path / "raw"), "--challenge", "speller", "--set", "test", "--out", released)
    arena("audit", released, "--challenge", "speller")
    masked = np.load(next((released / "public").rglob("block_1.npz")))["data"][-1]
    assert set(np.unique(masked).tolist()) <= {0, 242, 243}
    olga = town.person("olga", "operator")
    (tmp_path / "contest.toml").write_text(CONTEST.format(data=released / "truth" / "test"))
    arena("contest", "create", tmp_path / "contest.toml", "--owner", "olga")
    arena("contest", "offer", "season", released / "card.en.md", "--about", "data card")
    visitor = town.visitor()
    card = visitor.get("/contests/season/downloads/card.en.md").content
    assert hashlib.sha256(card).hexdigest() in visitor.get("/contests/season/SHA256SUMS").text
    settled(town)  # the keeper's own audit opens the phase
    assert "freez" not in visitor.get("/contests/season/start").text

    # Four teams, one hostile; a question, answered for all.
    teams = {"Alpha": QUICK, "Beta": SLOW, "Gamma": GUESS, "Delta": HOSTILE}
    people = {name: enter(town, name, source, tmp_path) for name, source in teams.items()}
    gamma, _ = people["Gamma"]
    assert gamma.post("/contests/season/questions", {"title": "Window?", "text": "How long is it?"}).status_code == 303
    assert "Window?" not in visitor.get("/contests/season/questions").text
    answer = {"answer": "As long as you like.", "public": "yes"}
    assert olga.post("/contests/season/questions/1/answer", answer).status_code == 303
    assert "As long as you like." in visitor.get("/contests/season/questions").text
    town.play()
    settled(town)
    scores = {name: olga.api("GET", f"/submissions/{run}").json() for name, (_, run) in people.items()}
    assert scores["Alpha"]["score"] > scores["Beta"]["score"] > 0, scores
    assert scores["Delta"]["score"] == 0
    log = olga.get(f"/runs/{people['Delta'][1]}").text
    assert "<script>alert(1)" not in log

    # Frozen for all but the organiser; over; the first two are admitted and bring their entry.
    board = "/contests/season/preliminary"
    assert "Alpha" in olga.get(board).text
    assert "Alpha" not in visitor.get(board).text
    assert olga.post(f"/runs/{people['Delta'][1]}/disqualify", {"reason": "attacked the box"}).status_code == 303
    end_phase(olga, "preliminary", revealed="yes")
    assert "Alpha" in visitor.get(board).text
    settled(town)
    assert "season" in people["Alpha"][0].get("/inbox").text
    assert "赛季" in people["Alpha"][0].get("/inbox?lang=zh").text
    assert "3 place" not in people["Gamma"][0].get("/inbox").text

    # The final: both play live, in the order drawn and in no other; the projector shows it as it happens.
    controls = "/organise/season/final/stage"
    assert olga.post(controls, {"act": "draw"}).status_code == 303
    assert visitor.get(STAGE).status_code == 404
    olga.post(controls, {"act": "open", "value": "now"})
    projector = browser.new_context(viewport={"width": 1600, "height": 900}, locale="zh-CN").new_page()
    projector.goto(town.base + STAGE)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(stream=f"season-{time.monotonic_ns()}"))
    order = [team["name"] for team in visitor.get(f"{STAGE}/state").json()["teams"]]
    assert f"it is the turn of {order[0]}" in arena(*live_words(plan, order[1], free_port()), exit_code=2)
    finals = {}
    for name in order:
        until(projector, f"document.getElementById('who').textContent === '下一队：{name}'")
        told = plays_live(visitor, plan, name, page)
        settled(town)
        finals[name] = run = olga.get(f"{STAGE}/state").json()["teams"][order.index(name)]
        place = next(one["said"]["run"] for one in visitor.get(f"{STAGE}/seals.json").json()["seals"] if one["said"]["team"] == name)  # fmt: skip # noqa: E501
        score = json.loads(olga.get(f"/runs/{place}/score.json").text)
        played = [one for one in score["trials"] if one["status"] != "invalid"]
        assert (told["team"], told["trials"]) == (name, len(played))
        assert told["right"] == sum(one["correct"] for one in played)  # how many depends on how busy the machine is
        assert told["score"] == pytest.approx(score["score"], rel=0.05)  # to within a packet or two a trial
        assert run["score"] == score["score"]
    olga.post(controls, {"act": "outcome"})
    until(projector, "document.getElementById('board').textContent.includes('一等奖')")
    shot(projector, "stage-live-outcome-zh", whole=False)
    projector.context.close()
    state = visitor.get(f"{STAGE}/state?lang=en").json()
    assert {row["team"] for row in state["ranking"]} == {"Alpha", "Beta"}
    assert state["ranking"][0]["award"] == "First prize"
    assert state["ranking"][0]["score"] == max(one["score"] for one in finals.values())

    # Awards and the jury pack; and every number of it again.
    end_phase(olga, "final", board="public")
    assert visitor.get("/contests/season/final").status_code == 200
    jury = olga.get("/organise/season/final/jury").text
    assert "attacked the box" not in jury  # that was the preliminary's
    assert "attacked the box" in olga.get("/organise/season/preliminary/jury").text
    pack = tmp_path / "pack"
    arena("contest", "jury", "season", "final", "--out", pack)
    rows = (pack / "jury.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[1] for row in rows[1:]][2:] == ["Gamma"]
    assert recount(pack) == []
    # The second count can fail: a ledger with a line less is noticed, by its signature.
    ledger = (
        pack / "runs" / str(json.loads((pack / "stage.json").read_text())["seals"][0]["said"]["run"]) / "ledger.jsonl"
    )
    lines = ledger.read_text("utf-8").splitlines(keepends=True)
    ledger.write_text("".join(lines[:-2] + lines[-1:]), "utf-8")
    assert any("signed" in line for line in recount(pack))
