"""Ten minutes of a large headset, as fast as the chain takes them: nothing is lost and nothing grows."""

from __future__ import annotations

from bciarena.bench.soak import rows, soak


def test_ten_minutes_of_77_channels_at_1000_hz(tmp_path):
    found = soak(600, True, tmp_path)
    assert found["wall_s"] < 90
    assert found["holes"] == {"record": 0, "run": 0}
    assert len(found["delays_ms"]) > 300  # one answer for every trial; soak() itself compares the counts
    grown = {row["measure"].rsplit(" ", 1)[1]: row["ratio"] for row in rows(found, True) if "ratio" in row}
    assert set(grown) == {"record", "run", "lab", "source"}
    assert all(ratio < 1.05 for ratio in grown.values()), grown
