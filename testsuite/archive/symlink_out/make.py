"""A link to a file of the host, which would then be copied into the box."""

import io
import tarfile


def make(path, entry):
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("Algorithm/AlgorithmImplementMI.py")
        info.size = len(entry.encode())
        archive.addfile(info, io.BytesIO(entry.encode()))
        link = tarfile.TarInfo("Algorithm/model.npz")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
