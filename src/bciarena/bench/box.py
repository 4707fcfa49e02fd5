"""What the box costs: per packet, at start, and with many matches on few cores.

Every number is reported with one measured in the same run by a plain in-process loop over the same array, so that a
slow or busy machine shows in both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.bench import onset, sample
from bciarena.contests import RULEBOOKS, rulebook
from bciarena.entries.opened import opened
from bciarena.errors import Fault
from bciarena.recording import write_contest
from bciarena.recording.model import Block, Recording, Subject
from bciarena.runs import RunFolder
from bciarena.wire import page

PACKETS = 20_000
SHAPES = {(len(book.channels), book.packet_n): book.name for book in reversed(RULEBOOKS.values())}
"""A contest for each shape of packet."""
MATCHES = 8
READY_S = 20.0  # within which eight boxes have started

ENTRY = '''
import json
import time


class Timed:
    """Takes every packet, does nothing with it, and prints how long each read took."""

    def run(self, packets):
        clock, times = time.perf_counter, []
        before = clock()
        for packet in packets:
            now = clock()
            times.append(now - before)
            before = clock()
        times = sorted(times[100:])
        print(json.dumps([times[len(times) // 2], times[len(times) * 99 // 100]]))
        return
        yield


class Quick:
    def step(self, packet):
        return None


class Paced:
    """Waits for the time in at.txt, takes every packet, and prints when the first and the last one came."""

    def run(self, packets):
        with open("at.txt") as file:
            time.sleep(max(0.0, float(file.read()) - time.monotonic()))
        first = 0.0
        for packet in packets:
            first = first or time.monotonic()
        print(json.dumps([first, time.monotonic()]))
        return
        yield
'''


OLD_ENTRY = """import time
began = time.time()
import numpy as np
from Algorithm.Interface.AlgorithmInterface import AlgorithmInterface
imports_s = time.time() - began


class {name}(AlgorithmInterface):
    def run(self):
        packet = self.task.get_data()
        print(time.time(), imports_s)
        while not packet.finish_flag:
            packet = self.task.get_data()
"""


def recording_of(challenge: str, packets: int) -> Recording:
    """Noise with one trial, long enough for ``packets`` packets."""
    book = rulebook(challenge)
    samples = packets * book.packet_n
    eeg = np.random.default_rng(0).standard_normal((len(book.channels), samples))
    trigger = np.zeros(samples)
    trigger[5] = onset(book)
    trigger[samples - 5] = 241
    return Recording((Subject("S01", (Block(eeg, trigger, book.rate, book.channels),)),))


def plain_loop(recording: Recording, packet_n: int) -> tuple[float, float]:
    """p50 and p99 in seconds of the least a framework can do: slice, copy, one method call."""
    data = recording.subjects[0].blocks[0].data

    class Source:
        position = 0

        def get(self) -> Any:
            self.position += packet_n
            return data[:, self.position - packet_n : self.position].copy()

    source, times = Source(), []
    before = time.perf_counter()
    for _ in range(data.shape[1] // packet_n):
        source.get()
        now = time.perf_counter()
        times.append(now - before)
        before = time.perf_counter()
    times = sorted(times[100:])
    return times[len(times) // 2], times[len(times) * 99 // 100]


def undisturbed(length_s: float, times: int = PACKETS) -> float:
    """p99 of a loop that does nothing for so long: what this machine's interruptions alone make of it."""
    clock, took = time.perf_counter, []
    for _ in range(times):
        began = now = clock()
        while now - began < length_s:
            now = clock()
        took.append(now - began)
    return sorted(took)[times * 99 // 100]


def play(challenge: str, name: str, recording: Recording, folder: Path, out: Path) -> dict[str, Any]:
    book = rulebook(challenge)
    with opened(f"{folder / 'timed.py'}:{name}", book) as ready:
        result = ready.run(recording, out=out, force=True, clock="data", budget_s=600)
    if result["verdict"] != "ok":
        raise Fault(f"the bench's own entry failed: {result['verdict']}: {result['reason']}")
    return result


def per_packet(folder: Path) -> list[dict[str, Any]]:
    rows = []
    for challenge in SHAPES.values():
        book = rulebook(challenge)
        recording = recording_of(challenge, PACKETS)
        plain = plain_loop(recording, book.packet_n)
        play(challenge, "Timed", recording, folder, folder / "run")
        boxed_s = json.loads(b"".join(piece.raw for piece in RunFolder(folder / "run").printed()))
        rows.append(
            {
                "measure": f"boxed packet {len(book.channels) + 1}x{book.packet_n}",
                "p50_us": boxed_s[0] * 1e6,
                "p99_us": boxed_s[1] * 1e6,
                "plain_p50_us": plain[0] * 1e6,
                "plain_p99_us": plain[1] * 1e6,
                "idle_loop_p99_us": undisturbed(boxed_s[0]) * 1e6,
                "ratio_p50": boxed_s[0] / plain[0],
                "ratio_p99": boxed_s[1] / plain[1],
            }
        )
    return rows


def start_up(folder: Path, times: int = 7) -> dict[str, Any]:
    """Wall time of a boxed match of three packets, beside the interpreter's own start with numpy."""
    recording = recording_of(sample().name, 3)
    own, whole = [], []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import numpy"], check=True, env={"OPENBLAS_NUM_THREADS": "1"})
        own.append(time.perf_counter() - began)
        result = play(sample().name, "Quick", recording, folder, folder / "run")
        assert result["verdict"] == "ok"
        end = RunFolder(folder / "run").ledger().end
        assert end is not None
        whole.append(end["wall_s"])
    own_s, whole_s = sorted(own)[times // 2], sorted(whole)[times // 2]
    return {
        "measure": "start-up of a boxed entry",
        "boxed_s": whole_s,
        "interpreter_and_numpy_s": own_s,
        "over_it_s": whole_s - own_s,
    }


def first_packet(folder: Path, times: int = 7) -> dict[str, Any]:
    """From the start of ``arena run`` on an old package, an archive with a list of libraries, to its first packet.

    The libraries are installed once before; what the entry's own imports take is taken off.
    """
    book = next(one for one in RULEBOOKS.values() if one.dialect == "A")
    package, data, run = folder / "old.zip", folder / "old-data", folder / "old-run"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr(f"team/Algorithm/{book.classes[0]}.py", OLD_ENTRY.format(name=book.classes[0]))
        archive.writestr("team/requirements.txt", "numpy\n")
    block = recording_of(book.name, 100).subjects[0].blocks[0]
    write_contest(data / "S01" / "block_1.npz", block.data, book.rate, book.channels)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "bciarena",
        "run",
        package,
        "--challenge",
        book.id,
        "--data",
        data,
        "--out",
        run,
    ]
    over, own = [], []
    for turn in range(times + 1):
        began = time.time()
        subprocess.run([*command, "--force"], check=True, capture_output=True)
        first, imports_s = map(float, b"".join(piece.raw for piece in RunFolder(run).printed()).split())
        if turn:  # the first one fills the cache
            over.append(first - began - imports_s)
            own.append(imports_s)
    return {
        "measure": "arena run OLD_PACKAGE to its first packet, warm cache, over the entry's own imports (limit 1 s)",
        "over_it_s": sorted(over)[times // 2],
        "slowest_s": max(over),
        "own_imports_s": sorted(own)[times // 2],
    }


def parallel(folder: Path) -> dict[str, Any]:
    """Eight matches at once, each with a referee process of its own, beside the same eight one after another.

    Counted is the time between first and last packets alone: at once, all begin at the same moment. The eight also play
    without polling at all: where they are slower than that, polling has cost them something.
    """
    script = (
        "import sys; from pathlib import Path; import bciarena.bench.box as b; from bciarena.wire import page;"
        "page.SPIN = int(sys.argv[2]);"
        f"f = Path({str(folder)!r}); n = b.sample().name; r = b.recording_of(n, {PACKETS});"
        "b.play(n, 'Paced', r, f, f / ('run' + sys.argv[1]))"
    )

    def start(number: int, polls: int = page.SPIN) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", script, str(number), str(polls)])

    def times(number: int) -> tuple[float, float]:
        first, last = json.loads(b"".join(piece.raw for piece in RunFolder(folder / f"run{number}").printed()))
        return first, last

    def ended(running: list[subprocess.Popen[bytes]]) -> None:
        codes = [process.wait() for process in running]
        if any(codes):
            raise Fault("a parallel match of the bench failed")

    (folder / "at.txt").write_text("0")
    alone_s = 0.0
    for number in range(MATCHES):
        ended([start(number)])
        first, last = times(number)
        alone_s += last - first

    def at_once(polls: int) -> float:
        (folder / "at.txt").write_text(str(time.monotonic() + READY_S))
        ended([start(number, polls) for number in range(MATCHES)])
        spans = [times(number) for number in range(MATCHES)]
        return max(last for _, last in spans) - min(first for first, _ in spans)

    together_s, unpolled_s = at_once(page.SPIN), at_once(0)
    return {
        "measure": f"{MATCHES} matches at once on {len(os.sched_getaffinity(0))} cores, 65x10",
        "packets_per_s": MATCHES * PACKETS / together_s,
        "one_after_another_packets_per_s": MATCHES * PACKETS / alone_s,
        "never_polling_packets_per_s": MATCHES * PACKETS / unpolled_s,
        "kept": alone_s / together_s,
        "over_never_polling": unpolled_s / together_s,
    }


def main() -> list[dict[str, Any]]:
    """All measurements, as rows."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as place:
        folder = Path(place)
        (folder / "timed.py").write_text(ENTRY)
        return [*per_packet(folder), start_up(folder), first_packet(folder), parallel(folder)]
