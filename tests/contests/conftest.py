"""Contests from outside are forgotten after each test."""

import sys

import pytest

from bciarena import contests


@pytest.fixture
def forgetful(monkeypatch):
    """What a test makes known is unknown to the next one."""
    monkeypatch.setenv(contests.FOLDERS, "")
    kept = {name: dict(getattr(contests, name)) for name in ("CONTESTS", "RULEBOOKS", "BROKEN")}
    yield
    for name, values in kept.items():
        table = getattr(contests, name)
        table.clear()
        table.update(values)
    for name in [name for name in sys.modules if name.startswith("bciarena_contest_")]:
        del sys.modules[name]
