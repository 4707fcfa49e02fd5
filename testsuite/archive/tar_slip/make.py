"""The same as zip_slip in a tar.gz."""

import io
import tarfile


def make(path, entry):
    with tarfile.open(path, "w:gz") as archive:
        for name, text in (("Algorithm/AlgorithmImplementMI.py", entry), ("../../escaped.py", "print('out')\n")):
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
