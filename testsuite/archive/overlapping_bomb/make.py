"""Many names for the same compressed bytes: the directory multiplies what the archive holds."""

import struct
import zlib


def make(path, entry):
    press = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = b"\0" * (1 << 20)
    packed = b"".join(press.compress(zeros) for _ in range(16)) + press.flush()
    crc = 0
    for _ in range(16):
        crc = zlib.crc32(zeros, crc)
    sizes = struct.pack("<III", crc, len(packed), 16 << 20)
    name = b"Algorithm/model00.npz"
    body = struct.pack("<4sHHHHH", b"PK\3\4", 20, 0, 8, 0, 33) + sizes + struct.pack("<HH", len(name), 0) + name + packed
    directory = b""
    for _ in range(64):
        head = struct.pack("<4sHHHHHH", b"PK\1\2", 20, 20, 0, 8, 0, 33) + sizes
        directory += head + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 64, 64, len(directory), len(body), 0)
    with open(path, "wb") as file:
        file.write(body + directory + end)
