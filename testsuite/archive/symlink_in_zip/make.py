"""The same as symlink_out in a zip, where a link is a file with a mode."""

import zipfile


def make(path, entry):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Algorithm/AlgorithmImplementMI.py", entry)
        link = zipfile.ZipInfo("Algorithm/model.npz")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
