"""A name that is a file first and a folder later."""

import io
import tarfile


def make(path, entry):
    with tarfile.open(path, "w:gz") as archive:
        for name in ("Algorithm/x", "Algorithm/x/AlgorithmImplementMI.py"):
            info = tarfile.TarInfo(name)
            info.size = len(entry.encode())
            archive.addfile(info, io.BytesIO(entry.encode()))
