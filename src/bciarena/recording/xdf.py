"""XDF files: a block as an EEG stream and a stream of codes on one clock, as LabRecorder would have written them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as XML

import numpy as np

from bciarena.recording.lsl_desc import codes_desc, eeg_desc
from bciarena.recording.model import CHUNK_N, Block
from bciarena.writing import whole_file

FILE, STREAM, SAMPLES, FOOTER = 1, 2, 3, 6  # tags of chunks
EEG, CODES = 1, 2  # numbers of the two streams
START_S = 1000.0  # of the clock: any time will do, but 0 looks like none


def write_xdf(path: Path, block: Block, name: str = "arena") -> None:
    """Write a block; EEG in microvolts as 32-bit floats, codes as 32-bit integers at their samples' times."""
    eeg = _info(name, "EEG", len(block.channels), block.rate, "float32", eeg_desc(block.channels))
    codes = _info(f"{name}-codes", "Markers", 1, 0, "int32", codes_desc())
    events = block.events
    last_s = START_S + (block.samples - 1) / block.rate
    with whole_file(path) as beside, open(beside, "wb") as file:
        file.write(b"XDF:")
        file.write(_chunk(FILE, b'<?xml version="1.0"?><info><version>1.0</version></info>'))
        file.write(_chunk(STREAM, struct.pack("<I", EEG) + eeg))
        file.write(_chunk(STREAM, struct.pack("<I", CODES) + codes))
        for piece in _pieces(block):
            file.write(_chunk(SAMPLES, struct.pack("<I", EEG) + piece))
        rows = b"".join(struct.pack("<Bdi", 8, START_S + event.sample / block.rate, event.code) for event in events)
        file.write(_chunk(SAMPLES, struct.pack("<I", CODES) + _count(len(events)) + rows))
        file.write(_chunk(FOOTER, struct.pack("<I", EEG) + _footer(START_S, last_s, block.samples)))
        ends = [START_S + event.sample / block.rate for event in (*events[:1], *events[-1:])] or [0.0, 0.0]
        file.write(_chunk(FOOTER, struct.pack("<I", CODES) + _footer(ends[0], ends[-1], len(events))))


def _pieces(block: Block) -> Iterator[bytes]:
    """Samples with a time stamp on the first of each chunk: the others follow at the stream's rate."""
    for start in range(0, block.samples, CHUNK_N):
        values = np.ascontiguousarray(block.eeg[:, start : start + CHUNK_N].T, dtype="<f4")
        rows = np.zeros((len(values), 1 + values.shape[1] * 4), np.uint8)  # a byte that says: no stamp of its own
        rows[:, 1:] = values.view(np.uint8).reshape(len(values), -1)
        stamp = struct.pack("<Bd", 8, START_S + start / block.rate)
        yield _count(len(values)) + stamp + rows[:1, 1:].tobytes() + rows[1:].tobytes()


def _info(name: str, kind: str, count: int, rate: int, form: str, desc: XML.Element) -> bytes:
    info = XML.Element("info")
    told = {
        "name": name,
        "type": kind,
        "channel_count": str(count),
        "nominal_srate": str(rate),
        "channel_format": form,
        "source_id": f"bciarena-{name}",
        "created_at": f"{START_S}",
    }
    for key, text in told.items():
        XML.SubElement(info, key).text = text
    info.append(desc)
    return bytes(XML.tostring(info, "utf-8", xml_declaration=True))


def _footer(first_s: float, last_s: float, count: int) -> bytes:
    info = XML.Element("info")
    told = {"first_timestamp": f"{first_s!r}", "last_timestamp": f"{last_s!r}", "sample_count": str(count)}
    for key, text in told.items():
        XML.SubElement(info, key).text = text
    return bytes(XML.tostring(info, "utf-8", xml_declaration=True))


def _count(number: int) -> bytes:
    """A number with the count of its bytes before it."""
    return struct.pack("<BQ", 8, number)


def _chunk(tag: int, content: bytes) -> bytes:
    return _count(len(content) + 2) + struct.pack("<H", tag) + content
