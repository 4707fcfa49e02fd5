"""Short storms, on both databases; ``make chaos`` blows for longer, and on a Ray cluster, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from bciarena.sandbox import why_not
from tests.chaos.storm import COUNTED, Storm
from tests.postgres import database_url, postgres

__all__ = ["database_url", "postgres"]

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"needs boxes: {why_not()}")


def test_a_short_storm_loses_doubles_and_blames_nobody(
    database_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    restart = None if database_url.startswith("sqlite") else request.getfixturevalue("postgres").restart
    storm = Storm(tmp_path, database_url, seed=1, jobs=4, restart=restart)
    try:
        counts = storm.blow(most=6)
        assert counts == dict.fromkeys(COUNTED, 0), (
            storm.struck,
            [(r.id, r.state, r.verdict, r.error) for r in storm._rows()],
        )
        assert sum(storm.struck.values()) >= 3, storm.struck
    finally:
        storm.close()
