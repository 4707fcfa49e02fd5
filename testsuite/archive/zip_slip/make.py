"""A member whose name climbs out of the folder it is unpacked into."""

import zipfile


def make(path, entry):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Algorithm/AlgorithmImplementMI.py", entry)
        archive.writestr("Algorithm/../../../escaped.py", "print('out')\n")
