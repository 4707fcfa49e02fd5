"""python -m bciarena is arena."""

import sys
from pathlib import Path

# Python puts the current folder first on the path (unless started with -P); nothing but ourselves may come from there.
if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).parents[1]:
    del sys.path[0]

from bciarena.cli import run

run()
