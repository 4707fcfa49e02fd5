"""A hard link to a file of the host."""

import tarfile


def make(path, entry):
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("Algorithm/AlgorithmImplementMI.py")
        link.type, link.linkname = tarfile.LNKTYPE, "/etc/passwd"
        archive.addfile(link)
