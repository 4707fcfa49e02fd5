"""How well can flexion and fist of one arm be told apart at all in simulated people?

``python ceiling.py --people 6 --seed 9301``: an oracle is told where each person's rhythms come from (the
simulator's own maps), listens there with the best linear filter, and learns from 38 trials of each movement of a side,
taken from the blocks of training and test together, what a classifier can: band powers of the five places.
What remains wrong is what the simulated brain hides: lapses, waxing rhythms, overlap of the two movements.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from bciarena.contests.rehab.brain import LATER_TODAY, dead_channels
from bciarena.contests.rehab.rules import CLASSES, RULEBOOK
from bciarena.protocol.seeds import stream
from bciarena.protocol.timeline import Script
from bciarena.simulator.eeg import Cap, Sitting
from bciarena.simulator.person import Person, draw_person, on_day
from bciarena.simulator.rhythms import SOURCES

RATE, TRIALS, FOLDS = 250, 40, 20  # rhythms end at 30 Hz: the contest's 1000 Hz would only take longer
PLACES = [row for row, source in enumerate(SOURCES) if source.uv == "mu_uv"]
BANDS_HZ = ((8, 14), (14, 30))
WINDOW_N = (120, 980)

Floats = NDArray[np.float64]


def ceiling(seed: int, subject: int) -> dict[str, float]:
    """Side -> share of trials whose movement the oracle tells."""
    usual = draw_person(seed, "people", subject, patients=True)
    dead = dead_channels(usual, len(RULEBOOK.channels))
    found = {}
    for side in ("left", "right"):
        powers, fists = [], []
        for split in ("train", "test"):
            person = on_day(usual, f"rehab-{split}", LATER_TODAY)
            rng = stream(seed, "light", split, subject, side)
            power, fist = _block(Sitting(person, "rehab", Cap(RULEBOOK.channels, "average")), person, side, dead, rng)
            powers.append((power - power.mean(axis=0)) / power.std(axis=0))
            fists.append(fist)
        x, y = np.concatenate(powers), np.concatenate(fists)
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        found[side] = float(np.mean(cross_val_predict(LogisticRegression(), x, y, cv=folds) == y))
    return found


def _block(
    sitting: Sitting, person: Person, side: str, dead: list[int], rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """Log powers (trials, places * bands) of a block, and which trials are the fist."""
    codes = rng.permutation(np.resize([code for code, name in CLASSES.items() if name.startswith(side)], TRIALS))
    script, onsets = Script(RATE), []
    script.add(2.0, "gap")
    for code in codes.tolist():
        limb = CLASSES[code].replace(" ", "_")
        script.add(1.0, "cue", limb=limb)
        onsets.append(script.now_n)
        script.add(4.0, "imagine", code, limb=limb)
        script.add(1.5, "rest")
    eeg = np.asarray(sitting.record(script.timeline("rehab/1", "train", 1, 1), rng), dtype=float)
    eeg -= eeg.mean(axis=0)
    eeg[dead] = 0
    maps = sitting.sources[:, PLACES].astype(float)
    maps[dead] = 0
    powers = []
    for hz in BANDS_HZ:
        band = sosfilt(butter(3, hz, "bandpass", fs=RATE, output="sos"), eeg, axis=1)
        covs = np.stack([np.cov(band[:, at + WINDOW_N[0] : at + WINDOW_N[1]], bias=True) for at in onsets])
        mean = covs.mean(axis=0)
        mean += 1e-3 * np.trace(mean) / len(mean) * np.eye(len(mean))
        listen = np.linalg.solve(mean, maps)
        listen = listen @ np.linalg.inv(maps.T @ listen)
        powers.append(np.log(np.einsum("ck,ncd,dk->nk", listen, covs, listen)))
    return np.concatenate(powers, axis=1), codes >= 3


def main() -> None:
    """Print the ceiling of some people."""
    asked = argparse.ArgumentParser(description="What an oracle reaches on simulated people of rehab.")
    asked.add_argument("--people", type=int, default=6)
    asked.add_argument("--seed", type=int, default=9301)
    given = asked.parse_args()
    shares = []
    for subject in range(1, given.people + 1):
        found = ceiling(given.seed, subject)
        shares += list(found.values())
        print(f"subject {subject}: " + ", ".join(f"{side} {share:.2f}" for side, share in found.items()), flush=True)
    mean = float(np.mean(shares))
    print(f"mean {mean:.3f}: {50 + 50 * mean:.1f} points a trial if the side is always right")


if __name__ == "__main__":
    main()
