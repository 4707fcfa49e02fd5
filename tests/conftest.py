"""Fixtures for all tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.realdata import real_data

pytest_plugins = ["tests.browser"]


@pytest.fixture
def shared_data() -> Callable[[str], Path]:
    """Find a folder of real recordings by name, or skip."""
    return real_data
