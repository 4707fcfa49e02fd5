"""Common spatial patterns and a linear discriminant for each person, on one window of each training trial."""

from pathlib import Path

import joblib
import numpy as np
from scipy.signal import sosfilt
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline

from bciarena.decoders.csp import CSP
from bciarena.decoders.filters import band_pass
from bciarena.errors import BadInput
from bciarena.recording import open_recording

WINDOW_N = 370  # 1.48 s at 250 Hz, counted from the packet after the trigger's
STRANGER = 0  # fitted on everyone's trials, for people who have none
SHRINK = 0.05  # unshrunk, CSP picks directions of hardly any power, which move from one day to the next


def train(data: str, out: str) -> None:
    """Fit one classifier per subject number, and one for strangers, and write them into ``out``."""
    epochs, labels = {}, {}
    for subject, _, block in open_recording(data):
        eeg = np.asarray(block.eeg[:59], dtype=float)
        filtered = sosfilt(band_pass(8, 30, 250), eeg - eeg[:, :1], axis=1)
        for event in block.events:
            start = (event.sample // 10 + 1) * 10
            if event.code in (201, 202, 203) and start + WINDOW_N <= block.samples:
                epochs.setdefault(subject, []).append(filtered[:, start : start + WINDOW_N])
                labels.setdefault(subject, []).append(event.code)
    if not epochs:
        raise BadInput(f"{data}: no trial (codes 201-203) in it; is this a training folder?")
    for subject in list(epochs):
        epochs.setdefault(STRANGER, []).extend(epochs[subject])
        labels.setdefault(STRANGER, []).extend(labels[subject])
    for subject in epochs:
        classifier = make_pipeline(CSP(pairs=2, shrink=SHRINK), LinearDiscriminantAnalysis())
        classifier.fit(np.array(epochs[subject]), labels[subject])
        joblib.dump(classifier, Path(out) / f"subject_{subject}.joblib")
