"""The shared page between referee and box: where each word is, and how an answer is encoded.

The box may overwrite every byte of it. So the referee reads only the request words, copies before it checks, and never
reads back what it wrote itself: position, packet numbers and data are kept in the referee's own memory.

One request is open at a time. The box writes kind and payload, then raises ASK by one; the referee writes its
reply, then sets REPLY to the same number. A packet is written only as the reply to a request.

Whoever waits polls first and then sleeps. Polling is fastest while both sides run at once; where there are more
processes than cores, or the entry computes for long, it only keeps the other side from running, and keeps the two on
different cores, where waking up costs four times as much. The referee therefore says how often to poll, in POLLS.
"""

from __future__ import annotations

import math
import struct
from typing import Any

ASK, KIND, LENGTH, BOX_ASLEEP, PRINTED = 0, 1, 2, 3, 4  # written by the box
REPLY, WHAT = 8, 9  # written by the referee, followed by the HEADER words
HOST_ASLEEP, POLLS = 24, 25
WORDS = 32  # of 8 bytes; every side has its own cache lines

HEADER = struct.Struct("=8q")  # what, subject, block, number, start, total_start, samples, finished
HEADER_AT = WHAT * 8
ASKED_AT = WORDS * 8
LONGEST_ASK = 1024  # bytes
DATA_AT = 2048  # aligned for float64 and cache lines

NEXT, REPORT, READY, DONE, FAILED = 1, 2, 3, 4, 5  # kinds of requests
PACKET, CLOSED, TAKEN = 1, 2, 3  # kinds of replies

WAKE, HELLO = b"w", b"h"  # what goes through the pipes: wake up; and, first of all, the box is ready
POLL_MS = 20  # a sleeper checks this often, whatever happens
SPIN = 1000  # polls of a word before going to sleep, about 50 us
MISSES = 32  # this often in vain between two looks: the two sides are not running at the same time

LONGEST_TEXT = 64  # characters of an answer
EXACT = 2**53

_INTEGER, _FLOAT = struct.Struct("<cq"), struct.Struct("<cd")


class Malformed(Exception):
    """The box sent something that our client never sends."""


def page_bytes(rows: int, packet_n: int) -> int:
    """Size of the shared page for packets of at most (rows, packet_n) float64."""
    return DATA_AT + rows * packet_n * 8


def pack_value(value: Any) -> bytes:
    """A plain value (see wire.values) as bytes: one letter for its type, then its content."""
    if isinstance(value, dict):
        return b"o" + str(value["other"]).encode("utf-8")
    if isinstance(value, str):
        return b"s" + value.encode("utf-8")
    if isinstance(value, int):
        return _INTEGER.pack(b"i", value)
    return _FLOAT.pack(b"f", value)


def unpack_value(raw: bytes) -> Any:
    """The plain value in ``raw``, or Malformed: nothing here trusts the sender."""
    tag = raw[:1]
    if tag == b"i" and len(raw) == _INTEGER.size:
        number = _INTEGER.unpack(raw)[1]
        if abs(number) < EXACT:
            return number
    elif tag == b"f" and len(raw) == _FLOAT.size:
        real = _FLOAT.unpack(raw)[1]
        if math.isfinite(real):
            return real
    elif tag in (b"s", b"o"):
        try:
            text = raw[1:].decode("utf-8")
        except UnicodeDecodeError:
            raise Malformed("an answer that is not valid text") from None
        if len(text) <= LONGEST_TEXT:
            return text if tag == b"s" else {"other": text}
    raise Malformed("an answer of unknown type")
