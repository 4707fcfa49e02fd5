"""What the brain does with a task, against the literature: flicker, imagery, cues, idleness."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from bciarena.contests.speller.rules import FREQUENCY_HZ, PHASE_RAD
from bciarena.simulator.person import ILLITERATE_SHARE, draw_person
from tests.simulator.sitting import RATE, average_person, row, sit, someone

OZ = row("Oz")


def looks(keys, repeats=1):
    """Trials: rest, then a flicker."""
    made = []
    for key in keys:
        hz, phase = FREQUENCY_HZ[key - 1], PHASE_RAD[key - 1]
        made += [(2, "rest", {}), (4, "flicker", {"key": key, "hz": hz, "phase_rad": phase})] * repeats
    return made


def at(signal, hz):
    """Complex amplitude of a 4 s stretch at a frequency, in microvolts."""
    time = np.arange(len(signal)) / RATE
    return 2 * np.mean((signal - signal.mean()) * np.hanning(len(signal)) * 2 * np.exp(-2j * np.pi * hz * time))


def stretches(eeg, timeline, kind, channel=OZ, delay_s=0.0):
    return [
        eeg[channel, timeline.at(step.onset_s + delay_s) :][: timeline.at(step.duration_s)]
        for step in timeline.of(kind)
    ]


def snr(parts, hz):
    """Power at a frequency over the power beside it, of the mean over trials."""
    here = np.mean([abs(at(part, hz)) ** 2 for part in parts])
    beside = np.mean([abs(at(part, hz + off)) ** 2 for part in parts for off in (-2, -1.25, 1.25, 2)])
    return here / beside


@pytest.mark.parametrize("key", [8, 23, 36])
def test_flicker_shows_at_its_frequency_and_harmonics_and_nowhere_else(key):
    eeg, timeline = sit(average_person(), *looks([key], 8), seed=key)
    hz = FREQUENCY_HZ[key - 1]
    parts = stretches(eeg, timeline, "flicker", delay_s=0.14)
    first, second, third = (snr(parts, k * hz) for k in (1, 2, 3))
    assert first > 4
    assert second > 2.5
    assert third > 1.3
    for elsewhere in (hz + 3.1, hz - 1.7, 2 * hz + 3.3, 2.5 * hz):
        assert snr(parts, elsewhere) < 2.5
    rest = [part[:1000] for part in stretches(eeg, timeline, "rest", delay_s=0)][1:]
    assert snr([np.tile(part, 2)[:1000] for part in rest], hz) < first


def test_still_trials_are_idle():
    steps = [(2, "rest", {}), (4, "still", {"key": 8})] * 10
    eeg, timeline = sit(average_person(), *steps)
    for key in (8, 20, 33):
        for harmonic in (1, 2):
            assert snr(stretches(eeg, timeline, "still"), harmonic * FREQUENCY_HZ[key - 1]) < 2.5


def test_phases_of_the_response_follow_the_table_with_a_delay_of_140_ms():
    eeg, timeline = sit(average_person(), *looks(range(1, 41)), seed=4)
    got = np.array(
        [at(part, FREQUENCY_HZ[k]) for k, part in enumerate(stretches(eeg, timeline, "flicker", delay_s=0.2))]
    )
    # What is seen 0.2 s after onset is the table's phase advanced by 0.2 s and held back by the latency.
    hz, phase = np.array(FREQUENCY_HZ), np.array(PHASE_RAD)
    delays = np.arange(0.05, 0.25, 0.001)
    fits = [abs(np.mean(got / abs(got) * np.exp(-1j * (2 * np.pi * hz * (0.2 - lag) + phase)))) for lag in delays]
    without = [abs(np.mean(got / abs(got) * np.exp(-2j * np.pi * hz * (0.2 - lag)))) for lag in delays]
    assert max(fits) > 0.85
    assert max(without) < 0.5
    assert delays[np.argmax(fits)] == pytest.approx(0.14, abs=0.015)


def test_response_falls_with_frequency_and_is_strongest_at_the_back():
    eeg, timeline = sit(average_person(), *looks([6, 38], 8), seed=2)

    def size(channel, k):
        parts = stretches(eeg, timeline, "flicker", row(channel), 0.14)[k * 8 : (k + 1) * 8]
        hz = FREQUENCY_HZ[(6, 38)[k] - 1]
        return np.median([abs(at(part, hz)) for part in parts])

    assert size("Oz", 0) > size("Oz", 1)
    assert size("Oz", 1) > 2 * size("FCz", 1)


def power(eeg, channel, low, high):
    """Instantaneous band power of the channel less its neighbours' mean."""
    near = {"C3": ("FC3", "CP3", "C1", "C5"), "C4": ("FC4", "CP4", "C2", "C6"), "Cz": ("FCz", "C1", "C2", "CP1")}[
        channel
    ]
    local = eeg[row(channel)] - np.mean([eeg[row(name)] for name in near], axis=0)
    sections = butter(4, (low, high), "bandpass", fs=RATE, output="sos")
    return sosfiltfilt(sections, local.astype(float)) ** 2


def change(eeg, timeline, channel, limb, low, high, first_s=1.0, last_s=4.0):
    """Power during imagery over power in the two seconds before, in percent of change (ERD below zero)."""
    course = power(eeg, channel, low, high)
    during, before = [], []
    for step in timeline.of("imagine"):
        if step.params["limb"] == limb:
            start = timeline.at(step.onset_s)
            during.append(course[start + int(first_s * RATE) : start + int(last_s * RATE)].mean())
            before.append(course[start - 2 * RATE : start].mean())
    return 100 * (np.mean(during) / np.mean(before) - 1)


@pytest.fixture(scope="module")
def crowd():
    """Six people who can imagine, 12 trials of each limb."""
    able = [person for person in map(someone, range(30)) if not person.illiterate][:6]
    limbs = ["left_hand", "right_hand", "feet"] * 12
    steps = [step for limb in limbs for step in ((4, "rest", {}), (4, "imagine", {"limb": limb}))]
    return [sit(person, *steps, seed=number) for number, person in enumerate(able)]


def median_change(crowd, *how):
    return np.median([change(eeg, timeline, *how) for eeg, timeline in crowd])


def test_hand_imagery_desynchronises_the_other_side(crowd):
    left_c4 = median_change(crowd, "C4", "left_hand", 9, 13)
    right_c3 = median_change(crowd, "C3", "right_hand", 9, 13)
    # Pfurtscheller & Lopes da Silva 1999: 20-80 % of power, stronger contralaterally.
    assert -80 < left_c4 < -20
    assert -80 < right_c3 < -20
    assert left_c4 < median_change(crowd, "C3", "left_hand", 9, 13) - 8
    assert right_c3 < median_change(crowd, "C4", "right_hand", 9, 13) - 8


def test_desynchronisation_is_in_band_and_beta_follows(crowd):
    assert abs(median_change(crowd, "C4", "left_hand", 30, 45)) < 20
    assert median_change(crowd, "C4", "left_hand", 17, 24) < -10


def test_feet_desynchronise_the_middle_and_not_the_hands(crowd):
    # Pfurtscheller 2006: hand areas may even synchronise.
    assert median_change(crowd, "Cz", "feet", 9, 13) < -15
    assert median_change(crowd, "C3", "feet", 9, 13) > -15
    assert median_change(crowd, "C4", "feet", 9, 13) > -15


def test_desynchronisation_begins_after_the_onset(crowd):
    early = median_change(crowd, "C4", "left_hand", 9, 13, 0.0, 0.2)
    late = median_change(crowd, "C4", "left_hand", 9, 13, 1.5, 3.5)
    assert late < early - 10


def test_beta_rebounds_after_the_end(crowd):
    after = median_change(crowd, "C4", "left_hand", 17, 24, 4.6, 5.3)
    assert after > median_change(crowd, "C4", "left_hand", 17, 24) + 20


def test_idle_after_a_cue_is_idle():
    steps = [step for _ in range(25) for step in ((4, "rest", {}), (4, "idle", {}))]
    eeg, timeline = sit(average_person(), *steps, seed=3)
    course = {name: power(eeg, name, 9, 13) for name in ("C3", "C4")}
    for name in course:
        idle = np.mean([course[name][timeline.at(s.onset_s) + 250 :][:750].mean() for s in timeline.of("idle")])
        rest = np.mean([course[name][timeline.at(s.onset_s) + 250 :][:750].mean() for s in timeline.of("rest")])
        assert idle / rest == pytest.approx(1, abs=0.25)


def test_a_cue_evokes_a_potential():
    eeg, timeline = sit(average_person(), *[(1.5, "rest", {}), (1.5, "cue", {})] * 240, seed=5)
    sections = butter(2, (1, 30), "bandpass", fs=RATE, output="sos")
    course = sosfiltfilt(sections, (eeg[row("PO7")] + eeg[row("PO8")]).astype(float)) / 2

    def fall(kind):
        """t of the fall from the last 60 ms before an onset to 160-192 ms after it (N1), over trials."""
        starts = [timeline.at(step.onset_s) for step in timeline.of(kind)][1:-1]
        falls = np.array([course[at - 15 : at].mean() - course[at + 40 : at + 48].mean() for at in starts])
        return falls.mean() / falls.std() * np.sqrt(len(falls))

    assert fall("cue") > 4
    assert abs(fall("rest")) < 3  # nothing appears when a rest begins


def test_some_people_are_illiterate():
    people = [draw_person(1, "crowd", number) for number in range(400)]
    share = np.mean([person.illiterate for person in people])
    assert share == pytest.approx(ILLITERATE_SHARE, abs=0.06)
    able = np.median([person["erd"] for person in people if not person.illiterate])
    assert np.median([person["erd"] for person in people if person.illiterate]) < 0.35 * able
