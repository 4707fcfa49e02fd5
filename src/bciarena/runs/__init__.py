"""Run folders: play, keep, read, recompute. folder.py is the one keeper of their files, schema.py their form."""

from bciarena.runs.folder import RunFolder
from bciarena.runs.playing import run_match
from bciarena.runs.result import Result
from bciarena.runs.scoring import rescore, score_of

__all__ = ["Result", "RunFolder", "rescore", "run_match", "score_of"]
