"""Leave-one-family-out: how well is a generator caught that training has never seen?

``python leaving.py FOLDER``: the folder has cali_train, eval_train, cali_A and eval_A. For each family of generators
the model is fitted without it (and without blends, which contain it; where the family resembles those of eval_train,
also without that set), then asked about its fakes of the people of cali_A and the real trials of eval_A, at 3 s.
"""

import copy
import sys

import fakes
import numpy as np
import train

from bciarena.contests.liveness.decoder import LivenessModel, People
from bciarena.decoders.stopping import itr_bits_per_min
from bciarena.recording import open_sets

FAMILIES = {
    "autoregressions": ("autoregression", "driven", "switching"),
    "surrogates": ("surrogate", "jittered"),
    "processes": ("process", "alpha waxing", "all waxing", "modulated"),
    "patches": ("patches",),
    "spectrograms": ("spectrogram",),
    "pieces": ("spliced", "shifted"),
    "oscillators": ("oscillators",),
}
TOLD = ("autoregressions", "surrogates", "processes")  # like those of eval_train
FLOOR_S = 3.0


def main(folder):
    sets = {name: train._trials(recording) for name, recording in open_sets(folder).items()}
    groups = {}
    for number, name in enumerate(("cali_train", "cali_A")):
        made = train._own_fakes(sets[name], np.random.default_rng([2024, number]), lambda: None)
        labelled = train._labelled(sets["eval_train"]) if name == "cali_train" else None
        groups[name] = People(train._calibration(sets[name]), made, labelled)
    leave_out(groups, train._labelled(sets["eval_A"]))


def leave_out(groups, judged):
    """Print how often real trials are kept and generated ones caught; groups of People, windows to be judged."""
    kinds = {name: np.array(list(fakes.KINDS))[group.fake.kind] for name, group in groups.items()}
    firsts = np.unique(judged.trial, return_index=True)[1]
    judged = part(judged, firsts)
    tell("nothing left out, all of eval_A", LivenessModel().fit(groups, "cali_A"), judged)
    found = []
    for family, members in FAMILIES.items():
        left = {}
        for name, group in groups.items():
            kept = part(group.fake, ~np.isin(kinds[name], (*members, "blend")))
            left[name] = People(group.real, kept, None if family in TOLD else group.labelled)
        caught = part(groups["cali_A"].fake, np.isin(kinds["cali_A"], members))
        found.append(tell(family, LivenessModel().fit(left, "cali_A"), part(judged, judged.real), caught))
    kept, caught = np.mean(found, axis=0)
    print(
        f"mean over families: real kept {kept:.3f}, generated caught {caught:.3f}, {points(kept, caught):.1f} bits/min"
    )


def tell(name, model, *parts):
    """Shares of real windows taken for real and of generated ones that are not."""
    real = np.concatenate([some.real for some in parts])
    said = np.array([
        model.odds_of(vector, int(subject)) > 0
        for some in parts
        for vector, subject in zip(some.statistics, some.state[:, 0], strict=True)
    ])  # fmt: skip
    kept, caught = float(said[real].mean()), float(1 - said[~real].mean())
    print(
        f"{name}: real kept {kept:.3f} of {real.sum()}, generated caught {caught:.3f} of {(~real).sum()}, "
        f"right {np.mean(said == real):.3f}, {points(kept, caught):.1f} bits/min with as many of both",
        flush=True,
    )
    return kept, caught


def points(kept, caught):
    """The contest's score at 3 s with as many real as generated trials, if everybody is recognised."""
    return 0.9 * itr_bits_per_min((kept + caught) / 2, 2, FLOOR_S) + 0.1 * itr_bits_per_min(1.0, 23, FLOOR_S)


def part(windows, which):
    """Some of the windows, with their statistics."""
    some = copy.copy(windows)
    for name, values in vars(windows).items():
        setattr(some, name, None if values is None else values[which])
    return some


if __name__ == "__main__":
    main(sys.argv[1])
