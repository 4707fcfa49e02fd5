"""Fits the two classifiers of the liveness baseline: who on the calibration, real or generated on eval_train."""

import sys
from pathlib import Path

import joblib
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bciarena.errors import BadInput
from bciarena.recording import open_sets

sys.path.insert(0, str(Path(__file__).parent / "Algorithm" / "method" / "impl"))
from features import WINDOW_N, spectra, swell


def train(data: str, out: str) -> None:
    """Read cali_A (or cali_B) and eval_train from ``data``, write both classifiers into ``out``."""
    sets = open_sets(data)
    known = [name for name in sets if name.startswith("cali_")]
    if not known or "eval_train" not in sets:
        raise BadInput(f"{data}: needs eval_train, which shows what fakes look like, and cali_A or cali_B")
    scored = max(known, key=lambda name: (name != "cali_train", name))
    person = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    person.fit(*_windows(sets[scored], spectra, lambda code: code % 64))
    reality = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, class_weight="balanced"))
    reality.fit(*_windows(sets["eval_train"], swell, lambda code: int(code > 128)))
    joblib.dump((person, reality), Path(out) / "baseline.joblib")


def _windows(recording, features, label):
    """Features of 3 s windows, half overlapping, and the label that each one's trial code stands for."""
    rows, labels = [], []
    for _, _, block in recording:
        for start, end in zip(block.events, block.events[1:], strict=False):
            if end.code == 241:
                for first in range(start.sample + 1, end.sample - WINDOW_N + 1, WINDOW_N // 2):
                    rows.append(features(np.asarray(block.eeg[:, first : first + WINDOW_N], dtype=float)))
                    labels.append(label(start.code))
    return np.array(rows), np.array(labels)
