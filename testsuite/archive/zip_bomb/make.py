"""A few hundred kilobytes that unpack to gigabytes of zeros (96 MiB here: the bound comes earlier)."""

import zipfile


def make(path, entry):
    zeros = b"\0" * (1 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Algorithm/AlgorithmImplementMI.py", entry)
        with archive.open("Algorithm/model.npz", "w") as file:
            for _ in range(96):
                file.write(zeros)
