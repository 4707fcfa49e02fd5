"""The lab's loop on one machine: page, virtual subject, LSL, boxed entry, feedback; and what a frame costs to draw."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from bciarena.bench import parts, soak
from bciarena.contests import CONTESTS, rulebook
from bciarena.errors import BadInput
from bciarena.live.amplifier import Decimator
from bciarena.processes import arena_beside
from bciarena.protocol import protocol_of

SPELT = next(name for name in CONTESTS if CONTESTS[name].has("protocol.py") and "word" in protocol_of(name).options)
"""The contest whose stage spells words."""
WORD = "THE BRAIN"
LETTER_S = 7.0
SETTLE_S = 3.0  # the entry has caught up with the stream, the pages are painted
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
FREE = ["--disable-frame-rate-limit", "--disable-gpu-vsync"]
SCREENS = ((1100, 900), (1920, 1080))
FRAMES = 400
ENTRY = """
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
from Algorithm.Interface.Model.ReportModel import ReportModel


class AlgorithmImplementSSVEP(AlgorithmInterface):
    def run(self):
        finished, said = False, 0
        while not finished:
            finished = self._problemInterface.getData().finishedFlag
            report = ReportModel()
            report.resultType = said % 40 + 1
            said += 1
            self._problemInterface.report(report)
"""
STEP = (
    "const { stage, player } = window.lab; const step = { kind: 'flicker', params: { key: 1, hz: 8, phase_rad: 0 } };"
)
# Reading one pixel back makes the browser finish the drawing, so that all of it is timed.
DRAW = (
    "(frames) => {" + STEP + "const took = [];"
    "for (let k = 0; k < frames; k++) { const begin = performance.now(); stage.draw(step, k / 240, player);"
    "stage.pen.getImageData(0, 0, 1, 1); took.push(performance.now() - begin); } return took; }"
)
RUSH = (
    "(frames) => new Promise((done) => {" + STEP + "const stamps = [];"
    "const frame = (stamp) => { stamps.push(stamp); stage.draw(step, stamp / 1000, player);"
    "stamps.length <= frames ? requestAnimationFrame(frame) : done(stamps); }; requestAnimationFrame(frame); })"
)


@contextmanager
def chromium(*more: str) -> Iterator[Any]:
    """A headless browser without a graphics card, driven by Playwright."""
    path = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        raise BadInput("bench live drives a browser: apt install chromium, pip install 'bciarena[dev]'")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*FLAGS, *more])
        yield browser
        browser.close()


def browser_pid() -> int:
    """The browser's main process: the one whose parent is not a browser process."""
    family = [p for p in psutil.Process().children(recursive=True) if "chrom" in p.name()]
    own = {process.pid for process in family}
    return next(process.pid for process in family if process.ppid() not in own)


@contextmanager
def lab(folder: Path, stream: str) -> Iterator[tuple[str, int]]:
    """The lab's server with a word to type; yields its address and process id."""
    port = parts.free_port()
    with (
        open(folder / "lab.txt", "w", encoding="utf-8") as log,
        arena_beside("lab", SPELT, "--word", WORD, "--port", port, "--log", folder / "lab.jsonl",
                     "--stream", stream, out=log) as process,
    ):  # fmt: skip
        parts.wait_for(lambda: parts.listening(port), 60, "the lab's server answers")
        yield f"http://127.0.0.1:{port}", process.pid


def until(page: Any, expression: str, wait_s: float = 30.0) -> None:
    """Wait until a JavaScript expression is true."""
    parts.wait_for(lambda: bool(page.evaluate(f"() => Boolean({expression})")), wait_s, expression)


def loop(folder: Path) -> list[dict[str, Any]]:
    """A word's time of flicker while an entry answers every packet: delays, frames, processor time of each part."""
    stream = f"loop-{os.getpid()}"
    entry = folder / "entry" / "Algorithm" / "AlgorithmImplementSSVEP.py"
    entry.parent.mkdir(parents=True)
    entry.write_text(ENTRY, "utf-8")
    who = ("--challenge", SPELT, "--stream", stream)
    with (
        open(folder / "log.txt", "w", encoding="utf-8") as log,
        lab(folder, stream) as (address, lab_pid),
        chromium() as browser,
        arena_beside("live", "subject", *who, "--hub", address, out=log) as subject,
        arena_beside("live", "run", entry.parents[1], *who, "--hub", address, "--out", folder / "run", out=log) as run,
        arena_beside("live", "record", *who, "--out", folder / "record", out=log) as record,
    ):
        stage, operator = browser.new_page(), browser.new_page()
        stage.goto(f"{address}/stage")
        operator.goto(f"{address}/operator")
        raws = [folder / part / "raw.f32" for part in ("run", "record")]
        parts.wait_for(lambda: all(parts.size_of(raw) for raw in raws), 90, "both readers receive")
        until(stage, "window.lab?.player.timeline")
        processes = {"browser (two pages)": browser_pid(), "lab": lab_pid, "subject": subject.pid}
        processes |= {"run with boxed entry": run.pid, "record": record.pid}
        ranks = {browser_pid(): 1}
        first = False not in {parts.first_in_line(pid, ranks.get(pid, 2)) for pid in processes.values()}
        stage.bring_to_front()
        stage.wait_for_timeout(SETTLE_S * 1e3)
        stage.keyboard.press("Space")  # the warning is read, and the operator has ticked it
        operator.check("#confirm")
        operator.click("[data-command=start]")
        begin_s, used = time.monotonic(), {part: parts.cpu_s(pid) for part, pid in processes.items()}
        stage.wait_for_timeout(len(WORD) * LETTER_S * 1e3)
        wall_s = time.monotonic() - begin_s
        share = {part: (parts.cpu_s(pid) - used[part]) / wall_s for part, pid in processes.items()}
        until(stage, "!window.lab.player.running", 60)
        run.wait(60)
        record.wait(60)
    lines = [json.loads(line) for line in (folder / "lab.jsonl").read_text("utf-8").splitlines()]
    cores = [{"measure": f"CPU of {part}", "cores": used} for part, used in share.items()]
    return [*_delays(lines, parts.PRIORITY[first]), _frames(lines, parts.PRIORITY[first]), *cores]


def _delays(lines: list[dict[str, Any]], how: str) -> list[dict[str, Any]]:
    shown = {line["sample_s"]: line["hub_s"] for line in lines if line["type"] == "shown"}
    asked = {line["sample_s"]: line["at_s"] for line in lines if line["type"] == "answer"}
    newest = np.array([at - sample for sample, at in shown.items()]) * 1e3
    reached = np.array([asked[sample] - sample for sample in shown]) * 1e3
    book = rulebook(SPELT)
    oldest = newest + (book.packet_n - 1) / book.rate * 1e3
    steps = {
        f"loop{how}, a packet's oldest sample to drawn feedback (goal: p99 under 100 ms)": oldest,
        f"loop{how}, a packet's newest sample to drawn feedback": newest,
        "of it, newest sample to the lab (20 ms wait for codes, LSL, box, entry, line)": reached,
        "of it, lab to drawn feedback (line, next frame)": newest - reached,
    }
    return [{"measure": name, **_spread(ms), "answers": len(ms)} for name, ms in steps.items()]


def _spread(values_ms: Any) -> dict[str, float]:
    return {f"p{q}_ms": float(np.percentile(values_ms, q)) for q in (50, 99)}


def _frames(lines: list[dict[str, Any]], how: str) -> dict[str, Any]:
    told = [line for line in lines if line["type"] == "frames"]
    gaps = np.array([gap for line in told for gap in line["intervals_ms"]])
    off = np.abs(gaps - np.median(gaps))
    kept = {
        "p50_ms": float(np.median(gaps)),
        "p99_ms": float(np.percentile(gaps, 99)),
        "off_p50_ms": float(np.median(off)),
    }
    return {
        "measure": f"{SPELT} page{how}, interval of frames",
        **kept,
        "frames": len(gaps),
        "dropped": told[-1]["dropped"],
    }


def drawing(folder: Path) -> list[dict[str, Any]]:
    """What a frame of 40 flickering keys costs, and how many a second the browser draws when running freely."""
    rows = []
    with lab(folder, f"draw-{os.getpid()}") as (address, _), chromium(*FREE) as browser:
        for width, height in SCREENS:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(f"{address}/stage")
            until(page, "window.lab?.player.timeline")
            first = parts.first_in_line(browser_pid())
            took = page.evaluate(DRAW, FRAMES)
            gaps = np.diff(page.evaluate(RUSH, FRAMES))
            cost = {**_spread(took), "ratio_p99_to_240_Hz": float(np.percentile(took, 99)) * 240 / 1e3}
            free = {"free_running_hz": 1e3 / float(gaps.mean()), "free_p99_ms": float(np.percentile(gaps, 99))}
            name = f"one frame of 40 keys, {width}x{height}, software drawing" + (
                ", real-time priority" if first else ""
            )
            rows.append({"measure": name, **cost, **free})
            page.close()
    return rows


def resampler() -> list[dict[str, Any]]:
    """What a faster amplifier costs: the delay its low-pass filter adds, and processor time, of 64 channels."""
    rows = []
    for times in (2, 4, 8):
        rate = 250 * times
        fold = Decimator(rate, times, 64)
        eeg, stamps = np.random.default_rng(0).normal(0, 20, (64, rate // 25)), np.arange(rate // 25) / rate
        fold(eeg, stamps)
        begin_s, count = time.process_time(), 250
        for k in range(1, count + 1):  # chunks of 40 ms
            fold(eeg, stamps + k / 25)
        share = (time.process_time() - begin_s) / (count / 25)
        rows.append(
            {
                "measure": f"resampler, 64 channels of {rate} Hz to 250 Hz",
                "delay_ms": fold.delay_s * 1e3,
                "cores": share,
            }
        )
    return rows


def main() -> list[dict[str, Any]]:
    """All measurements, as rows."""
    load = {"measure": "load of the machine before", "average": os.getloadavg()[0]}
    rows = [load, *resampler()]
    for measure in (loop, drawing):
        with tempfile.TemporaryDirectory(prefix="arena-live-") as place:
            rows += measure(Path(place))
    return rows + soak.main(10.0, fast=True)
