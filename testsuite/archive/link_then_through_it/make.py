"""A folder that is a link, and a file written through it."""

import io
import tarfile


def make(path, entry):
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("Algorithm")
        link.type, link.linkname = tarfile.SYMTYPE, "/tmp"
        archive.addfile(link)
        info = tarfile.TarInfo("Algorithm/escaped.py")
        info.size = len(entry.encode())
        archive.addfile(info, io.BytesIO(entry.encode()))
