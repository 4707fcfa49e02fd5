"""Fixtures for all tests."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bciarena import contests
from tests.realdata import ABSENT, real_data

pytest_plugins = ["tests.browser"]
LONG = """
live/test_soak service/test_roles simulator/test_conditions simulator/test_quality bench/test_decoders jobs/test_matches
contests/imagery/test_entries service/test_keeping test_worked service/test_hidden entries/test_library
upkeep/test_upkeep
contests/speller/test_entries entries/test_libraries contests/rehab/test_entries contests/liveness/test_brain
service/test_browser contests/turing/test_hands contests/liveness/test_entries live/test_faults jobs/test_ray
chaos/test_storms service/test_demo test_bare contests/turing/test_entries entries/test_journey test_public
""".split()
"""Files that take long begin first: one that begins last leaves the other processes without work."""

# A shell's background job ignores Ctrl-C, and so would every program that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["ARENA_DISTURBED"] = "inf"  # tests run side by side: no machine is quiet then
os.environ["ARENA_LANG"] = "en"  # whatever the locale of whoever runs them
os.environ["ARENA_CONFIG"] = ""  # nor with their defaults


@pytest.fixture
def shared_data() -> Callable[[str], Path]:
    """Find a folder of real recordings by name, or skip."""
    return real_data


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first (make test keeps this order: --no-loadscope-reorder), the others in theirs."""
    places = {Path(__file__).parent / f"{name}.py": place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In CI everything is installed, so a skipped test hides something: it fails there.

    Real recordings are not part of the repository, so only tests on them may be skipped.
    """
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if ABSENT not in reason:
            report.outcome = "failed"
            report.longrepr = f"skipped in CI: {reason}"
