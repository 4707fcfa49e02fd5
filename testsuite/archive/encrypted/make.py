"""A zip that asks for a password (only its flag is set: that is what a reader sees first)."""

import zipfile


def make(path, entry):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Algorithm/AlgorithmImplementMI.py", entry)
    raw = bytearray(path.read_bytes())
    raw[6] |= 1
    at = raw.index(b"PK\1\2")
    raw[at + 8] |= 1
    path.write_bytes(bytes(raw))
