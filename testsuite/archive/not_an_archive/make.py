"""A text file with an archive's name."""


def make(path, entry):
    path.write_text(entry)
