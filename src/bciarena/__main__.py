"""python -m bciarena is arena."""

from bciarena.cli import run

run()
