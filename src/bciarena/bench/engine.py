"""The engine in one process: cost of a packet, memory of a long block, speed of scoring."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.bench import onset, sample
from bciarena.match import Match
from bciarena.recording import Block, Recording, Subject
from bciarena.referee import Ledger, Truth, judge
from bciarena.stream import Stream

PACKETS = 20_000
HOUR_N = 250 * 3600
TRIALS = 10_000


def main() -> list[dict[str, Any]]:
    """All measurements, as rows."""
    return [_packet(), _memory(), _scoring()]


def _recording(samples: int, trials: int) -> Recording:
    book = sample()
    eeg = np.random.default_rng(0).standard_normal((64, samples)).astype(np.float32)
    row = np.zeros(samples)
    row[np.linspace(0, samples - 2000, trials).astype(int)] = onset(book)
    return Recording((Subject("S01", (Block(eeg, row, 250, book.channels),)),))


def _packet() -> dict[str, Any]:
    """Handing out 65 x 10 with masking and accounting, against the least a loop could do: slice and copy."""
    recording = _recording(PACKETS * 10, 100)
    data = recording.subjects[0].blocks[0].data
    ours, plain = [], []
    for _ in range(5):  # alternately, so that both see the same noise
        match = Match(sample(), Stream(sample(), recording), Ledger({}))
        begin = time.perf_counter()
        while match.next():
            pass
        ours.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        for start in range(0, PACKETS * 10, 10):
            np.array(data[:, start : start + 10], np.float64)
        plain.append(time.perf_counter() - begin)
    cost, least = min(ours) / PACKETS * 1e6, min(plain) / PACKETS * 1e6
    return {"measure": "in-process packet 65x10", "us": cost, "slice_and_copy_us": least, "ratio": cost / least}


CHILD = """
import resource, sys
from bciarena.bench import sample
from bciarena.match import Match
from bciarena.recording import open_recording
from bciarena.referee import Ledger
from bciarena.stream import Stream
def used(): return int(open('/proc/self/status').read().split('RssAnon:')[1].split()[0])
recording = open_recording(sys.argv[1])
book = sample()
match = Match(book, Stream(book, recording), Ledger({}))
for _ in range(2000): match.next()
before = used()
while match.next(): pass
print(used() - before)
"""


def _memory() -> dict[str, Any]:
    """Private memory while playing one hour of 64 channels, beyond that of the first 80 s, without the map."""
    from bciarena.recording import write_contest

    with tempfile.TemporaryDirectory(prefix="arena-bench-") as place:
        path = Path(place) / "S01" / "block_1.npz"
        data = np.zeros((65, HOUR_N), np.float32)
        data[-1, 0] = onset(sample())
        write_contest(path, data, 250, sample().channels)
        size = data.nbytes
        del data
        grown = int(subprocess.check_output([sys.executable, "-c", CHILD, place])) * 1024
    return {"measure": "memory grown in a 1 h block", "MB": grown / 1e6, "block_MB": size / 1e6, "ratio": grown / size}


def _scoring() -> dict[str, Any]:
    """Judging and scoring ten thousand trials."""
    book = sample()
    codes = np.zeros(TRIALS * 100)
    codes[::100] = onset(book)
    block = Block(np.zeros((64, 1), np.float32).repeat(codes.size, axis=1), codes, 250, book.channels)
    truth = Truth.of(book, Recording((Subject("S01", (block,)),)))
    reports = [
        {"subject": 1, "block": 1, "position": k * 100 + 60, "value": onset(book), "think_s": 0.0}
        for k in range(TRIALS)
    ]
    begin = time.perf_counter()
    score = judge(book, truth, reports)
    took = time.perf_counter() - begin
    assert len(score.trials) == TRIALS
    return {"measure": "scoring 10,000 trials", "s": took, "goal_s": 1.0, "ratio": took / 1.0}


if __name__ == "__main__":
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, main())
