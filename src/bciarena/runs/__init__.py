"""Run folders: play, keep, read, recompute. folder.py alone reads and writes their files, schema.py describes them."""

from bciarena.runs.folder import RunFolder
from bciarena.runs.playing import run_match
from bciarena.runs.result import Result
from bciarena.runs.scoring import rescore, score_of

__all__ = ["Result", "RunFolder", "rescore", "run_match", "score_of"]
