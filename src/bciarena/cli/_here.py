"""An entry played in this process: where there are no processes of their own for entries (not Linux)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput


def entry_here(spec: str) -> Any:
    """An object of the class that ``module.py:Class`` names."""
    file, _, name = spec.rpartition(":")
    if not file.endswith(".py") or not Path(file).is_file():
        raise BadInput(
            f"{spec}: packages and reference entries are played on Linux only; here give module.py:Class, or run "
            "python main.py in the companion package (docs/systems.md)"
        )
    folder = str(Path(file).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as in a box: its own modules lie beside it
    found = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    if not hasattr(module, name):
        raise BadInput(f"{file}: has no class {name}")
    return getattr(module, name)()
