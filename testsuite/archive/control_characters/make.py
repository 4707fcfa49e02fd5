"""A name that would move the cursor of whoever lists it."""

import zipfile


def make(path, entry):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Algorithm/AlgorithmImplementMI.py", entry)
        archive.writestr("Algorithm/\x1b[2Jmodel.npz", b"")
