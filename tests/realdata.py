"""Real recordings beside the repository, for development: not part of it."""

from pathlib import Path

import pytest

ABSENT = "are not beside the repository"
REAL = Path(__file__).resolve().parents[2] / "shared" / "data"


def real_data(name: str) -> Path:
    """A folder of real recordings; the test is skipped by name where it is not there."""
    folder = REAL / name
    if not folder.is_dir():
        pytest.skip(f"real recordings {name} {ABSENT}")
    return folder
