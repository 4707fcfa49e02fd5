"""Resting EEG against the literature: alpha, the aperiodic slope, amplitudes, mains, eyes, heart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from tests.simulator.sitting import RATE, average_person, band, row, sit, someone, spectrum


@pytest.fixture(scope="module")
def people():
    """Eyes open and eyes closed of eight people, 40 s each."""
    return [
        {eyes: sit(someone(n), (40, f"eyes_{eyes}", {}), seed=n)[0] for eyes in ("open", "closed")} for n in range(8)
    ]


def test_closing_the_eyes_raises_alpha_at_the_back(people):
    # Barry 2007 and the real recordings: 2 to 10 times the power at Oz, and no such rise in beta.
    ratios = [band(p["closed"][row("Oz")], 8, 13) / band(p["open"][row("Oz")], 8, 13) for p in people]
    beta = [band(p["closed"][row("Oz")], 22, 30) / band(p["open"][row("Oz")], 22, 30) for p in people]
    assert 2 < np.median(ratios) < 10
    assert min(ratios) > 1
    assert 0.6 < np.median(beta) < 1.7


def test_alpha_is_at_the_back_and_at_the_persons_frequency(people):
    for number, person in enumerate(people):
        hz, closed = spectrum(person["closed"][[row("Oz"), row("F7")]])
        opened = spectrum(person["open"][[row("Oz"), row("F7")]])[1]
        around = (hz > 7) & (hz < 13.5)
        rise = closed[:, around] - opened[:, around]
        assert rise[0].sum() > rise[1].sum()
        assert hz[around][np.argmax(rise[0])] == pytest.approx(someone(number)["alpha_hz"], abs=1.3)


def test_aperiodic_slope_lies_in_the_published_range(people):
    # Donoghue 2020, Voytek 2015: exponents between 0.8 and 2, fitted where no rhythm stands.
    for person in people:
        hz, power = spectrum(person["open"][row("CP5")])
        free = ((hz > 3) & (hz < 6)) | ((hz > 28) & (hz < 45))
        slope = -np.polyfit(np.log(hz[free]), np.log(power[free]), 1)[0]
        assert 0.7 < slope < 2.2


def test_amplitudes_are_those_of_scalp_eeg(people):
    for person in people:
        quiet = person["open"][[row(name) for name in ("C3", "Pz", "Oz", "P4")]]
        assert (band(quiet, 4, 8) > 0.3).all()
        assert (band(quiet, 4, 8) < 60).all()
        assert (band(quiet, 30, 45) < 6).all()
    size = np.median([p["open"][row("C3")].std() for p in people])
    assert 5 < size < 60


def test_neighbours_share_their_signal_and_far_electrodes_less(people):
    def correlation(one, other):
        pairs = (sosfiltfilt(sections, p["open"][[row(one), row(other)]].astype(float)) for p in people)
        return np.median([np.corrcoef(pair)[0, 1] for pair in pairs])

    sections = butter(4, (2, 40), "bandpass", fs=RATE, output="sos")

    assert correlation("O1", "Oz") > 0.7
    assert correlation("C3", "C5") > 0.6
    assert correlation("O1", "Oz") > correlation("O1", "FZ")


def test_mains_at_50_hz_and_nowhere_beside(people):
    hz, power = spectrum(np.stack([p["open"][row("Cz")] for p in people]))
    at, beside = np.argmin(np.abs(hz - 50)), (np.abs(hz - 50) > 2) & (np.abs(hz - 50) < 4)
    assert (power[:, at] > 5 * power[:, beside].mean(axis=1)).mean() > 0.8


def test_blinks_are_in_the_eye_rows_and_at_the_forehead():
    eeg, _ = sit(average_person(), (120, "rest", {}))
    upper, lower = eeg[row("VEOU")], eeg[row("VEOL")]
    eye = upper - lower
    at = int(np.argmax(eye[500:-500])) + 500
    assert 100 < eye[at] < 500
    around = slice(at - 60, at + 60)
    front, mid, back = (np.ptp(eeg[row(name), around]) for name in ("Fpz", "Cz", "Oz"))
    assert front > 2 * mid
    assert front > 3 * back
    # 17 a minute at rest (Bentivoglio 1997), as many as stand out of the eye's channel.
    high = (eye - np.median(eye)) > 90
    assert 6 < np.count_nonzero(np.diff(high.astype(int)) == 1) / 2 < 60


def test_heart_row_beats_like_a_heart():
    person = average_person()
    eeg, _ = sit(person, (60, "rest", {}))
    heart = eeg[row("ECG")] - np.median(eeg[row("ECG")])
    beats = np.flatnonzero((heart[1:-1] > 500) & (heart[1:-1] >= heart[:-2]) & (heart[1:-1] > heart[2:]))
    gaps_s = np.diff(beats) / RATE
    assert 50 < 60 / np.median(gaps_s) < 100
    assert 0.005 < np.std(gaps_s) < 0.15


def test_people_differ_and_repeat():
    one, again, other = (sit(someone(n), (10, "eyes_open", {}))[0] for n in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert one.dtype == np.float32
    assert np.isfinite(one).all()
