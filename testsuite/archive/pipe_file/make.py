"""A named pipe: opening it never returns."""

import tarfile


def make(path, entry):
    with tarfile.open(path, "w:gz") as archive:
        pipe = tarfile.TarInfo("Algorithm/model.npz")
        pipe.type = tarfile.FIFOTYPE
        archive.addfile(pipe)
