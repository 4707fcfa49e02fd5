"""One name, two contents: a checker could read one and the runner the other."""

import warnings
import zipfile


def make(path, entry):
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("Algorithm/AlgorithmImplementMI.py", entry)
        archive.writestr("Algorithm/AlgorithmImplementMI.py", entry + "# another\n")
