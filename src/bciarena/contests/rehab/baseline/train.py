"""Common spatial patterns and a linear discriminant over four classes, for each person, on whole trials."""

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

WINDOW_N = 3600  # 3.6 s at 1000 Hz, counted from the packet after the trigger's
STRANGER = 0  # fitted on everyone's trials, for people who have none
SHRINK = 0.05  # as in the imagery baseline


def train(data: str, out: str) -> None:
    """Fit one classifier per subject number, and one for strangers, and write them into ``out``."""
    epochs, labels = {}, {}
    for subject, _, block in open_recording(data):
        for event in block.events:
            start = (event.sample // 40 + 1) * 40
            if event.code in (1, 2, 3, 4) and start + WINDOW_N <= block.samples:
                trial = np.asarray(block.eeg[:, start : start + WINDOW_N], dtype=float)
                filtered = sosfilt(band_pass(8, 30, 1000), trial - trial[:, :1], axis=1)
                epochs.setdefault(subject, []).append(filtered[:, 400:])
                labels.setdefault(subject, []).append(event.code)
    if not epochs:
        raise BadInput(f"{data}: no trial (codes 1-4) in it; is this a training folder?")
    for subject in list(epochs):
        epochs.setdefault(STRANGER, []).extend(epochs[subject])
        labels.setdefault(STRANGER, []).extend(labels[subject])
    for subject in epochs:
        classifier = make_pipeline(CSP(pairs=2, shrink=SHRINK), LinearDiscriminantAnalysis())
        classifier.fit(np.array(epochs[subject]), labels[subject])
        joblib.dump(classifier, Path(out) / f"subject_{subject}.joblib")
