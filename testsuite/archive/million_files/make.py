"""A directory of a million names that all point to one empty file."""

import struct


def make(path, entry):
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + b"x"
    head = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, 18, 0, 0, 0, 0, 0, 0)
    directory = b"".join(head + b"Algorithm/%08d" % number for number in range(1_000_000))
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xFFFE, 0xFFFE, len(directory), len(local), 0)
    with open(path, "wb") as file:
        file.write(local + directory + end)
