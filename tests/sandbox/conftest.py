from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bciarena.sandbox import why_not

CORPUS = Path(__file__).parents[2] / "testsuite"
sys.path.insert(0, str(CORPUS))


@pytest.fixture(scope="session")
def box_works():
    reason = why_not()
    if reason:
        pytest.skip(f"boxes do not work here: {reason}")


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """The corpus recording of imagery as a data folder: two blocks of four trials."""
    import recordings

    from bciarena.recording.write import write_contest

    folder = tmp_path_factory.mktemp("data")
    for _, number, block in recordings.recording("imagery"):
        write_contest(folder / "S01" / f"block_{number}.npz", block.data, block.rate, block.channels)
    return folder
