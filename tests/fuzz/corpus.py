"""Writes the kept corpus anew: small valid inputs of every kind, from which the fuzzing starts.

    python -m tests.fuzz.corpus

Finds are added by hand, as files named find-*.
"""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import scipy.io

from bciarena.wire import page

HERE = Path(__file__).parent / "corpus"
BLOCK = {"data": np.arange(15.0).reshape(3, 5), "srate": 250, "ch_names": ["C3", "C4"]}
TOML = """slug = "spring"
title = "Spring"
rulebook = "imagery"
[[phase]]
name = "one"
starts = 2027-03-01T00:00:00Z
daily_limit = 3
[phase.data]
simulate = { subjects = 1, blocks = 1 }
"""
VHDR = """Brain Vision Data Exchange Header File Version 1.0
[Common Infos]
DataFile=sub-01_task-x_run-1_eeg.eeg
MarkerFile=sub-01_task-x_run-1_eeg.vmrk
DataFormat=BINARY
DataOrientation=MULTIPLEXED
NumberOfChannels=2
SamplingInterval=4000
[Binary Infos]
BinaryFormat=IEEE_FLOAT_32
[Channel Infos]
Ch1=C3,,1,uV
Ch2=C4,,1,uV
"""


def samples() -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}

    def written(write: object) -> bytes:
        stream = io.BytesIO()
        write(stream)  # type: ignore[operator]
        return stream.getvalue()

    found["block_pickle"] = [pickle.dumps(BLOCK, protocol) for protocol in (0, 2, 4)]
    found["block_npz"] = [
        written(lambda stream: np.savez(stream, **BLOCK)),
        written(lambda stream: np.savez_compressed(stream, **BLOCK)),
    ]
    found["block_mat"] = [
        written(lambda stream: scipy.io.savemat(stream, BLOCK)),
        written(lambda stream: scipy.io.savemat(stream, BLOCK, do_compression=True)),
    ]
    found["bids_header"] = [VHDR.encode() + b"\0onset\tduration\ttrial_type\tvalue\n0.04\t0\tx\t201\n"]
    packed, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as one:
        one.writestr("entry.py", "class Entry: pass\n")
        one.writestr("folder/config.toml", 'entry = "entry.py:Entry"\n')
    with tarfile.open(fileobj=tarred, mode="w") as two:
        info = tarfile.TarInfo("entry.py")
        info.size = 4
        two.addfile(info, io.BytesIO(b"pass"))
    found["archive"] = [packed.getvalue(), gzip.compress(tarred.getvalue(), mtime=0)]
    found["entry_config"] = [
        b'python = "3.10"\nentry = "entry.py:Entry"\ndialect = "D"\n',
        b'{"python": "3.8", "entry": "Algorithm.x:Y"}',
        b"challenge: imagery\nentry: entry.py:Entry\n",
    ]
    found["entry_yaml"] = [b"a: &x {b: 1}\nc: [*x, 2]\n", b"Algorithm:\n  path: a/b.py\n  class: X\n"]
    found["requirements"] = [
        b"numpy>=1.20,<2\nscipy; python_version >= '3.8'\n# words\nscikit-learn[alldeps]==1.0.*\n",
        b"torch==2.0.0+cpu --hash=sha256:00\n-r other.txt\n",
    ]
    found["source"] = [
        b"import os\nfrom .x import y\nclass A(B, object):\n    t = 'model.pkl'\n",
        b"\xa7\r\r\n" + bytes(12),
    ]
    found["answer"] = [page.pack_value(value) for value in (201, 1.5, "110000", {"other": "x"})]
    words = struct.pack("=5q", 1, page.REPORT, 9, 0, 1).ljust(page.WORDS * 8, b"\0")
    found["wire"] = [words + page.pack_value(201), b"w" * 16, b"h" + words]
    lines = [
        {"type": "header", "challenge": "imagery/1", "rulebook": "x", "data": "x", "entry": "x", "versions": {},
         "seed": 0, "clock": "data", "sandbox": "bwrap"},
        {"type": "report", "subject": 1, "block": 1, "position": 10, "packet": 1, "value": 201, "think_s": 0.1},
        {"type": "end", "verdict": "ok", "packets": 2, "cpu_s": 0.1, "wall_s": 0.1},
    ]  # fmt: skip
    found["ledger"] = ["".join(json.dumps(line) + "\n" for line in lines).encode()]
    found["contest_toml"] = [TOML.encode()]
    data = {"simulate": {"subjects": 1}}
    found["contest_body"] = [
        json.dumps({"slug": "a", "title": "A", "rulebook": "imagery", "phase": [{"name": "p", "data": data}]}).encode()
    ]
    found["elf"] = [Path(sys.executable).resolve().read_bytes()[:1024]]
    return found


if __name__ == "__main__":
    for name, kinds in samples().items():
        (HERE / name).mkdir(parents=True, exist_ok=True)
        for number, raw in enumerate(kinds, 1):
            (HERE / name / f"valid-{number}").write_bytes(raw)
