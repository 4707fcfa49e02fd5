"""The head model and the electrodes against MNE's."""

from __future__ import annotations

import numpy as np
import pytest

from bciarena.recording.montages import CAP64, CAP77, FIVE
from bciarena.simulator.head import RADIUS_M, electrodes, lead_field

mne = pytest.importorskip("mne")
NAMES = ("Fpz", "Fz", "Cz", "Pz", "Oz", "C3", "C4", "T7", "T8", "PO7", "PO8", "F3", "F4")


def test_potentials_agree_with_mne():
    rng = np.random.default_rng(3)
    scalp = electrodes(NAMES)
    directions = rng.standard_normal((30, 3))
    places = directions / np.linalg.norm(directions, axis=1, keepdims=True) * rng.uniform(0.2, 0.8, (30, 1))
    tilts = rng.standard_normal((30, 3))
    tilts /= np.linalg.norm(tilts, axis=1, keepdims=True)
    sphere = mne.make_sphere_model(r0=(0, 0, 0), head_radius=RADIUS_M, verbose="error")
    info = mne.create_info(list(NAMES), 250, "eeg")
    where = dict(zip(NAMES, scalp * RADIUS_M, strict=True))
    info.set_montage(mne.channels.make_dig_montage(where, coord_frame="head"))
    raw = mne.io.RawArray(np.zeros((len(NAMES), 2)), info, verbose="error").set_eeg_reference(
        projection=True, verbose="error"
    )
    dipoles = mne.Dipole(np.arange(30.0), places * RADIUS_M, np.full(30, 1e-9), tilts, np.ones(30))
    forward, _ = mne.make_forward_dipole(dipoles, sphere, raw.info, verbose="error")
    theirs = forward["sol"]["data"] * 1e-9 * 1e6  # a dipole of 1 nAm, in microvolts
    ours = lead_field(scalp, places, tilts)
    error = np.linalg.norm(ours - theirs, axis=0) / np.linalg.norm(theirs, axis=0)
    assert error.max() < 0.02  # MNE's own is an approximation with three fitted dipoles


def test_electrodes_are_where_mne_has_them():
    montages = mne.channels.get_builtin_montages()
    montage = mne.channels.make_standard_montage("colin27_1005" if "colin27_1005" in montages else "standard_1005")
    theirs = montage.get_positions()["ch_pos"]
    names = tuple(sorted({*CAP77, *FIVE, *(name for name in CAP64[:59] if name != "FZ")}))
    ours = electrodes(names)
    # Both clouds brought to one frame: angles between all pairs of electrodes, seen from the head's middle.
    cloud = np.array([theirs[name] for name in names])
    middle = np.linalg.lstsq(np.c_[2 * cloud, np.ones(len(cloud))], np.sum(cloud**2, axis=1), rcond=None)[0][:3]
    unit = (cloud - middle) / np.linalg.norm(cloud - middle, axis=1, keepdims=True)
    apart = np.abs(np.arccos(np.clip(ours @ ours.T, -1, 1)) - np.arccos(np.clip(unit @ unit.T, -1, 1)))
    assert np.degrees(np.median(apart)) < 2
    assert np.degrees(apart.max()) < 8
    left, right, front, back = electrodes(("C3", "C4", "Fz", "Oz"))
    assert left[0] < 0 < right[0]
    assert back[1] < 0 < front[1]


def test_every_row_of_every_cap_has_a_place():
    for names in (CAP64, CAP77, FIVE):
        rows = tuple(name for name in names if name != "ECG")
        assert np.allclose(np.linalg.norm(electrodes(rows), axis=1), 1)
