"""A file that claims seven gigabytes and has none."""

import gzip
import tarfile


def make(path, entry):
    with gzip.open(path, "wb", compresslevel=1) as file:
        for name in ("Algorithm/", "notes.txt"):
            info = tarfile.TarInfo(name)
            if name.endswith("/"):
                info.type = tarfile.DIRTYPE
            else:
                info.size = 7 << 30
            file.write(info.tobuf(tarfile.USTAR_FORMAT))
        file.write(b"\0" * 4096)
