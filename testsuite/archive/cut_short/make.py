"""An upload that broke off in the middle."""

import tarfile
import io
import random


def make(path, entry):
    noise = random.Random(1).randbytes(100_000)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in (("Algorithm/AlgorithmImplementMI.py", entry.encode()), ("Algorithm/model.npz", noise)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    path.write_bytes(path.read_bytes()[:50_000])
