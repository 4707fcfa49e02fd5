"""The same as zip_slip with the separators of Windows."""

import zipfile


def make(path, entry):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Algorithm\\AlgorithmImplementMI.py", entry)
        archive.writestr("Algorithm\\..\\..\\escaped.py", "print('out')\n")
