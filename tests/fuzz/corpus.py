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
PLAN = """challenge = "imagery"
subject = 7
out = "s07"
language = "zh"
distance_cm = 60
map = { Fpz = "FPZ" }
[[part]]
split = "train"
practice = 4
blocks = [1, 2]
[[part]]
split = "test"
entry = "@imagery"
options = { word = "HELLO" }
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


JSON = "authorization: Bearer TOKEN\ncontent-type: application/json"
FORM = "content-type: application/x-www-form-urlencoded\ncookie: session=x.y; lang=zh; theme=dark"
REQUESTS = (
    f"GET /api/v1/contests?limit=2&after=0\n{JSON}\naccept-language: zh-CN,zh;q=0.9,en;q=0.1\n\n",
    f'POST /api/v1/contests\n{JSON}\n\n{{"slug": "a", "title": "A", "rulebook": "imagery", "phase": []}}',
    f'POST /api/v1/teams\n{JSON}\n\n{{"name": "Ours"}}',
    f'POST /api/v1/token\n{JSON}\n\n{{"name": "root", "password": "wrong", "scope": "read"}}',
    f"POST /login\n{FORM}\nreferer: /x\n\nname=root&password=wrong&token={'0' * 64}&next=%2Fme",
    "GET /contests/spring/boards/1?sort=score&lang=zh\ncookie: session=a\nx-forwarded-for: 1.2.3.4\nrange: bytes=0-"
    "\n\n",
    "POST /api/v1/entries/1/versions\nauthorization: Bearer TOKEN\ncontent-type: multipart/form-data; boundary=b\n\n"
    '--b\r\nContent-Disposition: form-data; name="file"; filename="e.zip"\r\n\r\nPK\r\n--b--\r\n',
    "HEAD /static/site.css\nif-none-match: x\naccept-encoding: gzip\n\n",
)
MESSAGES: tuple[dict[str, object], ...] = (
    {"type": "hello", "refresh_hz": 60.0},
    {"type": "ping", "page_ms": 3},
    {"type": "command", "name": "start"},
    {"type": "step", "index": 1, "hub_s": 3.5},
    {"type": "frames", "intervals_ms": [16.6, 16.7], "dropped": 1},
    {"type": "answer", "value": "201", "sample_s": 1.5},
    {"type": "shown", "value": "201", "sample_s": 1.5, "hub_s": 2.0},
    {"type": "note", "text": "x"},
    {"type": "traces", "rows": []},
    {"type": "stopped", "why": "end", "dropped": 0},
)
LSL = """<?xml version="1.0"?><info><name>subject</name><type>EEG</type><channel_count>2</channel_count>
<channel_format>float32</channel_format><source_id>x</source_id><nominal_srate>250.0</nominal_srate><version>1.10</version>
<created_at>1.5</created_at><uid>a</uid><session_id>default</session_id><hostname>h</hostname><v4address/>
<v4data_port>1</v4data_port><v4service_port>1</v4service_port><v6address/><v6data_port>0</v6data_port>
<v6service_port>0</v6service_port><desc><channels><channel><label>C3</label><unit>microvolts</unit><type>eeg</type></channel>
<channel><label>C4</label></channel></channels></desc></info>"""


def recordings() -> list[bytes]:
    """Two channels and half a second in every format that can be written here, each behind its ending."""
    import tempfile

    import mne
    import scipy.io

    raw = mne.io.RawArray(
        np.zeros((2, 128)), mne.create_info(["C3", "C4"], 256.0, "eeg", verbose="error"), verbose="error"
    )
    raw.set_annotations(mne.Annotations([0.1], [0.0], ["left"]))
    found = []
    with tempfile.TemporaryDirectory() as place:
        for ending in (".edf", ".bdf"):
            path = Path(place, f"x_raw{ending}")
            mne.export.export_raw(path, raw, verbose="error")
            found.append(ending.encode() + b"\0" + path.read_bytes())
        raw.save(Path(place, "x_raw.fif"), verbose="error")
        found.append(b".fif\0" + Path(place, "x_raw.fif").read_bytes())
        places = np.array([("C3",), ("C4",)], dtype=[("labels", object)])
        eeg = {"nbchan": 2, "trials": 1, "srate": 256.0, "pnts": 128, "xmin": 0.0, "xmax": 0.5, "chanlocs": places}
        scipy.io.savemat(Path(place, "x.set"), {"EEG": {**eeg, "data": np.zeros((2, 128)), "event": []}})
        found.append(b".set\0" + Path(place, "x.set").read_bytes())
    return [*found, b".gdf\0" + gdf(), b".vhdr\0" + VHDR.encode(), b".xdf\0" + xdf()]


def gdf() -> bytes:
    """The fixed header of GDF 1.25 and one channel's."""
    head = b"GDF 1.25" + b" " * 160 + b"2026010100000000" + struct.pack("<q", 512) + bytes(44)
    return head + struct.pack("<q2II", 1, 1, 1, 1) + b"C3".ljust(16) + bytes(240) + bytes(200)


def xdf() -> bytes:
    def chunk(tag: int, content: bytes) -> bytes:
        return b"\x04" + struct.pack("<IH", len(content) + 2, tag) + content

    sample = struct.pack("<Bd2f", 8, 1.0, 0.0, 1.0)
    return b"".join([
        b"XDF:",
        chunk(1, b"<?xml version=\"1.0\"?><info><version>1.0</version></info>"),
        chunk(2, struct.pack("<I", 1) + LSL.encode()),
        chunk(3, struct.pack("<I", 1) + b"\x01\x02" + sample * 2),
        chunk(6, struct.pack("<I", 1) + b"<?xml version=\"1.0\"?><info><sample_count>2</sample_count></info>"),
    ])  # fmt: skip


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
    found["session_plan"] = [PLAN.encode()]
    data = {"simulate": {"subjects": 1}}
    found["contest_body"] = [
        json.dumps({"slug": "a", "title": "A", "rulebook": "imagery", "phase": [{"name": "p", "data": data}]}).encode()
    ]
    found["http_request"] = [text.encode() for text in REQUESTS]
    found["lab_messages"] = ["\n".join(json.dumps(one) for one in MESSAGES).encode()]
    found["raw_recording"] = [b'{"challenge": "imagery/1", "subject": 1, "block": 2}']
    found["lsl_header"] = [LSL.encode()]
    found["recording_file"] = recordings()
    found["dat_and_yaml"] = [b"channel_label: [C3, C4]\nsample_rate: 500\n"]
    found["index_page"] = [
        b'<a href="../../f/numpy-1.0-py3-none-any.whl#sha256=' + b"0" * 64 + b'" data-requires-python="&gt;=3.8">x</a>',
        json.dumps({"files": [{"filename": "numpy-1.0-py3-none-any.whl", "url": "x", "hashes": {}}]}).encode(),
    ]
    found["elf"] = [Path(sys.executable).resolve().read_bytes()[:1024]]
    return found


if __name__ == "__main__":
    for name, kinds in samples().items():
        (HERE / name).mkdir(parents=True, exist_ok=True)
        for number, raw in enumerate(kinds, 1):
            (HERE / name / f"valid-{number}").write_bytes(raw)
