"""Small changes of bytes, drawn from a seeded generator: the bounded part of the fuzzing, without any other tool."""

from __future__ import annotations

import random

TELLING = (b"\0", b"\xff" * 8, b"\x80", b"\n" * 40, b" " * 300, b"(" * 200, b"[" * 500, b"0" * 400, b"-1", b"1e999",
           b"NaN", b"\xe2\x80\xae", b"\x1b[31m", b"../" * 9, b"9" * 30, b"{}", b"''", b"\r\n", b"=",
           b";", b"&a *a")  # fmt: skip


def mutated(raw: bytes, draw: random.Random) -> bytes:
    """One to four changes: bits, bytes, cuts, repeats, swaps, and pieces that parsers trip over."""
    data = bytearray(raw)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(data) + 1)
        stop = min(len(data), at + draw.choice((1, 1, 2, 4, 8, 64)))
        kind = draw.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = draw.randrange(256)
        elif kind == 2:
            del data[at:stop]
        elif kind == 3:
            data[at:at] = data[at:stop] * draw.choice((1, 2, 50))
        elif kind == 4:
            data[at:at] = draw.choice(TELLING)
        elif kind == 5:
            data[at:stop] = draw.choice(TELLING)
        else:
            del data[at:]
    return bytes(data[: 1 << 16])
