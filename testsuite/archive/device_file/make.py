"""A device instead of a file: reading it never ends."""

import tarfile


def make(path, entry):
    with tarfile.open(path, "w:gz") as archive:
        device = tarfile.TarInfo("Algorithm/AlgorithmImplementMI.py")
        device.type, device.devmajor, device.devminor = tarfile.CHRTYPE, 1, 5
        archive.addfile(device)
