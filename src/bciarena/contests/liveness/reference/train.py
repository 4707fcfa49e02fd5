"""Learns the people of a training folder, and the difference between them and our own fakes.

The folder has cali_train, eval_train and the calibration of the people to be judged (cali_A or cali_B).
"""

import re

import fakes
import numpy as np

from bciarena.contests.liveness.decoder import TIMES_N, LivenessModel, People, Windows
from bciarena.contests.liveness.statistics import WINDOW_N
from bciarena.errors import BadInput
from bciarena.recording import open_sets

STRIDE_N = 150
EDGE_N = 12  # samples at both ends of a trial that a filter may have distorted
FAKES = 2  # of each kind, person and state


def train(data: str, out: str) -> None:
    """Read the named sets of ``data``, write the model into ``out``."""
    sets = {name: _trials(recording) for name, recording in open_sets(data).items()}
    scored = _scored(sets)
    names = [name for name in sets if name.startswith("cali")]
    runs = [(name, *run) for name in names for run in sorted({trial[:2] for trial in sets[name]})]
    made = iter(range(1, len(runs) + 1))

    def advance():
        if (count := next(made)) % 8 == 0 or count == len(runs):
            print(f"fakes of {count} of {len(runs)} runs made", flush=True)

    groups = {}
    for number, name in enumerate(names):
        fake = _own_fakes(sets[name], np.random.default_rng([2024, number]), advance)
        labelled = sets.get(name.replace("cali", "eval"))
        groups[name] = People(_calibration(sets[name]), fake, _labelled(labelled) if labelled else None)
    model = LivenessModel().fit(groups, scored, advance=lambda step: print(f"learning {step}", flush=True))
    model.save(out)
    print(f"{len(model.states_) // 2} people of {scored}; answers after 3 s")


def _scored(sets):
    """Name of the calibration whose people will be judged: of A and B the one that is there, else the last."""
    found = sorted(name for name in sets if re.fullmatch(r"cali_\w+", name) and name != "cali_train")
    if not found and "cali_train" in sets:
        return "cali_train"
    if not found:
        raise BadInput(
            "liveness: the training folder needs cali_train, eval_train and cali_A (or cali_B); "
            f"it has {', '.join(sorted(sets)) or 'none'}"
        )
    return found[-1]


def _trials(recording):
    """(subject, kind, eeg) of every trial; kind: 0 generated, 2 eyes open, 3 eyes closed."""
    trials = []
    for _, _, block in recording:
        begun = None
        for event in block.events:
            if event.code < 240:
                begun = event
            elif event.code == 241 and begun is not None:
                eeg = np.asarray(block.eeg[:, begun.sample : event.sample], dtype=float)
                if eeg.shape[1] >= WINDOW_N + 2 * EDGE_N:
                    trials.append((begun.code % 64, begun.code // 64, eeg))
                begun = None
    return trials


def _calibration(trials):
    eeg, state, number = [], [], []
    for index, (subject, kind, signal) in enumerate(trials):
        for first in range(EDGE_N, signal.shape[1] - WINDOW_N - EDGE_N + 1, STRIDE_N):
            eeg.append(signal[:, first : first + WINDOW_N])
            state.append((subject, kind - 2))
            number.append(index)
    return Windows(np.stack(eeg), np.array(state), np.array(number), np.ones(len(eeg), bool))


def _own_fakes(trials, rng, advance):
    eeg, state, made = [], [], []
    for subject, kind in sorted({trial[:2] for trial in trials}):
        run = fakes.joined([signal for s, k, signal in trials if (s, k) == (subject, kind)])
        for place, name in enumerate(fakes.KINDS):
            for _ in range(FAKES):
                eeg.extend(fakes.make(run, name, 1, WINDOW_N, rng))
                made.append(place)
        state.extend([(subject, kind - 2)] * (len(eeg) - len(state)))
        advance()
    return Windows(np.stack(eeg), np.array(state), np.arange(len(eeg)), np.zeros(len(eeg), bool), np.array(made))


def _labelled(trials):
    """Windows ending where decisions are made; a trial's code falls anywhere in its packet, here in the middle."""
    eeg, state, number, real = [], [], [], []
    for index, (subject, kind, signal) in enumerate(trials):
        for used_n in TIMES_N:
            last = used_n + 25
            if last <= signal.shape[1]:
                eeg.append(signal[:, last - WINDOW_N : last])
                state.append((subject, -1))
                number.append(index)
                real.append(kind > 0)
    return Windows(np.stack(eeg), np.array(state), np.array(number), np.array(real))
