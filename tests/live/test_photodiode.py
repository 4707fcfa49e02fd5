"""A photodiode against the log: what was put in is measured."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.errors import BadInput
from bciarena.live.photodiode import compared


def made(delay_s=0.0234, jitter_s=0.0004, lost=(), hz_wrong=0.0, rate=1000, clock_s=0.0):
    """A log of five flickers at 60 Hz, and what a diode sees of it.

    The page measures the hub's clock again and again: ``clock_s`` is how much later it thinks a step's frame was when
    it sends the step than when it sends the frames.
    """
    rng = np.random.default_rng(0)
    frames = 1000 + np.arange(1800) / 60 + rng.normal(0, 5e-5, 1800)
    lines = [{"type": "hello"}]
    lines += [{"type": "frames", "from_s": frames[k], "from_ms": frames[k] * 1e3 - 9e5, "dropped": 0,
               "intervals_ms": list(np.diff(frames[k : k + 61]) * 1e3)} for k in range(0, 1799, 60)]  # fmt: skip
    state = np.zeros(len(frames), bool)
    for k, hz in enumerate((8.0, 9.2, 10.4, 12.6, 15.8)):
        first = 100 + 340 * k
        phase = 0.5 * np.pi * (k % 4)
        at, rest = ({"type": "step", "hub_s": frames[k] + clock_s, "page_ms": frames[k] * 1e3 - 9e5}
                    for k in (first, first + 240))  # fmt: skip
        lines.append({**at, "kind": "flicker", "params": {"hz": hz, "phase_rad": phase}})
        lines.append({**rest, "kind": "rest", "params": {}})
        since = frames[first : first + 240] - frames[first]
        state[first : first + 240] = np.sin(2 * np.pi * (hz + hz_wrong) * since + phase) > 0
    for k in lost:
        state[k] = state[k - 1]
    times = 1000 + np.arange(round(30 * rate)) / rate
    at = np.searchsorted(frames + delay_s + rng.normal(0, jitter_s, len(frames)), times) - 1
    light = np.where(at >= 0, state[np.maximum(at, 0)], 0) * 700.0 + 40 + rng.normal(0, 15, len(times))
    return lines, light, times


def test_delay_jitter_frequency_and_phase_are_what_was_put_in():
    found = compared(*made())
    assert abs(found["delay_ms"] - 23.4) < 0.6  # half a sample of the diode
    assert found["jitter_ms"]["std"] < 1.0
    assert found["missed"] == 0
    assert abs(found["refresh_hz"] - 60) < 0.01
    assert [key["hz"] for key in found["keys"]] == [8.0, 9.2, 10.4, 12.6, 15.8]
    for key in found["keys"]:
        assert abs(key["measured_hz"] - key["hz"]) < 0.02
        assert abs(key["phase_error_rad"]) < 0.1  # a frame is up to 1.6 rad of 15.8 Hz


@pytest.mark.parametrize("clock_s", [0.0003, -0.0003, 0.004])
def test_a_clock_measured_anew_between_a_step_and_its_frames_moves_no_frame(clock_s):
    found = compared(*made(clock_s=clock_s))
    assert abs(found["delay_ms"] - (23.4 - clock_s * 1e3)) < 0.6  # codes carry the step's time: it is what is measured
    assert found["missed"] == 0
    assert all(abs(key["phase_error_rad"]) < 0.1 for key in found["keys"])


def test_a_page_that_was_reloaded_begins_its_clock_anew():
    lines, light, times = made()
    again, more, later = made()
    for line in again:
        line |= {key: line[key] + 100 for key in ("from_s", "hub_s") if key in line}
    found = compared([*lines, *again], np.concatenate([light, more]), np.concatenate([times, later + 100]))
    assert abs(found["delay_ms"] - 23.4) < 0.6
    assert found["missed"] == 0
    assert [key["steps"] for key in found["keys"]] == [2] * 5


def test_frames_that_were_not_shown_and_wrong_frequencies_are_seen():
    assert compared(*made(lost=(104, 460, 810)))["missed"] >= 1
    wrong = compared(*made(hz_wrong=0.2))
    assert all(0.15 < key["measured_hz"] - key["hz"] < 0.25 for key in wrong["keys"])


def test_no_light_and_the_wrong_log_are_told():
    lines, light, times = made()
    with pytest.raises(BadInput, match="shows no patch"):
        compared(lines, np.random.default_rng(0).normal(0, 1, len(times)), times)
    with pytest.raises(BadInput, match="no light where the log has any"):
        compared(lines, light, times + 500)
    with pytest.raises(BadInput, match="no frames or no steps"):
        compared([], light, times)
