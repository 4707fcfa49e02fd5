"""python -m bciarena is arena."""

import sys
from pathlib import Path

# Python has put the present folder first (unless told -P): nothing lying there is to be imported, but for ourselves.
if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).parents[1]:
    del sys.path[0]

from bciarena.cli import run

run()
