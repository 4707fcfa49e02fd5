"""A member that names its place on the host."""

import zipfile


def make(path, entry):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Algorithm/AlgorithmImplementMI.py", entry)
        archive.writestr("/tmp/escaped.py", "print('out')\n")
