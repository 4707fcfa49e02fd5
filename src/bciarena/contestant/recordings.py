"""Training data as an entry sees it: blocks of the contest layout, read on access."""

import os
import re

import numpy as np


class TrainingBlock:
    """One block of a training set.

    Attributes
    ----------
    rate : int
        Samples per second.
    channels : list of str
        Names of the EEG rows.
    subject, block : int
        From 1, subjects in sorted folder order, blocks within their subject.
    set : str
        Name of the set it belongs to (``cali_train``...), empty where the folder has only one.
    """

    def __init__(self, path, subject, block, set_name):
        self.path, self.subject, self.block, self.set = path, subject, block, set_name
        with np.load(path, allow_pickle=False) as file:
            self.rate = int(file["srate"])
            self.channels = [str(name) for name in file["ch_names"]]

    @property
    def data(self):
        """Array (channels + 1, samples), float64, last row the trigger with truth; read from its file each time."""
        with np.load(self.path, allow_pickle=False) as file:
            return np.asarray(file["data"], np.float64)

    def __repr__(self):
        return "TrainingBlock(%s subject %d block %d)" % (self.set or "set", self.subject, self.block)


def open_blocks(folder):
    """Every block of a data folder, or of the named sets in it."""
    plain = _blocks_of(folder, "")
    if plain:
        return plain
    return [block for name in _folders(folder) for block in _blocks_of(os.path.join(folder, name), name)]


def _blocks_of(folder, set_name):
    blocks, subject = [], 0
    for name in _folders(folder):
        files = sorted((f for f in os.listdir(os.path.join(folder, name)) if f.endswith(".npz")), key=_numeric)
        subject += bool(files)
        for number, file in enumerate(files, 1):
            blocks.append(TrainingBlock(os.path.join(folder, name, file), subject, number, set_name))
    return blocks


def _folders(folder):
    return sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))


def _numeric(name):
    return [int(number) for number in re.findall(r"\d+", name)], name
