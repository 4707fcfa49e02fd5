"""A name of a hundred thousand characters."""

import io
import tarfile


def make(path, entry):
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("Algorithm/" + "x" * 100_000)
        archive.addfile(info, io.BytesIO(b""))
