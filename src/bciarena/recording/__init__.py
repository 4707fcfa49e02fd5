"""Recordings: the content of a data folder, read without copying it and without running anything in it.

>>> recording = open_recording("data")              # doctest: +SKIP
>>> block = recording.subjects[0].blocks[0]         # doctest: +SKIP
>>> block.data.shape, block.rate, block.events[:3]  # doctest: +SKIP
"""

from bciarena.recording.events import Event, Lost, Marks
from bciarena.recording.folder import open_recording, open_sets
from bciarena.recording.model import Block, Recording, Subject
from bciarena.recording.write import write_contest

__all__ = ["Block", "Event", "Lost", "Marks", "Recording", "Subject", "open_recording", "open_sets", "write_contest"]
