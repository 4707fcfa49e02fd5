"""Rehearses matches on the training blocks, to learn how to weight the evidence and when to answer.

The training set has imagery and idle stretches, but no flicker. So responses of simulated people (amplitudes,
latencies, maps and lapses drawn from the simulator's documented distributions) are added to idle stretches that the
imagery model was not trained on, and the flicker decoder goes through the blocks as in a match, learning as it goes.
"""

import numpy as np

from bciarena.contests.turing.protocol import task_step
from bciarena.contests.turing.rules import BEHAVIOURS, SSVEP_HZ
from bciarena.contests.turing.tasks import TASKS, TaskWeights, fit_weights
from bciarena.decoders.phase_locked import PhaseLockedFlicker
from bciarena.decoders.stopping import Target, fit_policy
from bciarena.protocol.timeline import Script
from bciarena.simulator.evoked import evoked, maps
from bciarena.simulator.head import electrodes
from bciarena.simulator.person import draw_person

RATE, PACKET_N, TASK_S = 250, 10, 5.0
OCCIPITAL = [42, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58]
NAMES = ("Pz", "POz", "PO3", "PO4", "PO5", "PO6", "PO7", "PO8", "Oz", "O1", "O2")
REFERENCE = "CPz"
TIMES = (*range(12, 123, 6), 123)  # packets: 0.48 s to 4.92 s
BLOCKS = 3  # of each person: enough to learn from, and training stays short
SURE = 0.95
IDLE = 7


def rehearse(people, motor, seed=2026):
    """Weights and policy.

    Parameters
    ----------
    people : dict
        Person -> blocks as (eeg (channels, n), onsets of imagery, tasks, idle onsets learnt from, idle onsets not).
    motor : callable
        (person, block, "imagery" or "idle") -> left-out probabilities (trials, TIMES, 3) in the order of the onsets.
    """
    rng = np.random.default_rng(seed)
    kept = [[], [], [], []]
    for person, blocks in people.items():
        made_up = draw_person(seed, "rehearsal", person)
        flicker = PhaseLockedFlicker([SSVEP_HZ[task] for task in sorted(SSVEP_HZ)], RATE, len(OCCIPITAL))
        for number, block in enumerate(blocks[:BLOCKS]):
            plan = _plan(block, lambda kind, p=person, n=number: motor(p, n, kind), rng)
            for trial, evidence in _play(block[0], plan, flicker, made_up, rng):
                for column, value in zip(
                    kept,
                    (trial["motor"], evidence, trial["possible"], trial["task"] - 1),
                    strict=True,
                ):
                    column.append(value)
    motors, flickers, possible, truth = (np.array(column) for column in kept)
    times_s = np.array(TIMES) * PACKET_N / RATE
    weights = fit_weights(motors, flickers, possible, truth, times_s)
    allowed = np.broadcast_to(possible[:, None], (*motors.shape[:2], TASKS))
    posteriors = weights.posterior(motors, flickers, allowed, np.broadcast_to(times_s, motors.shape[:2]))
    # Everyone together: single people have too few trials to tell on which side of the 80 % limit they are.
    policy = fit_policy(posteriors, truth, times_s, Target())
    answer, length_s = policy.play(posteriors, times_s)
    return weights, policy, float(np.mean(answer == truth)), float(length_s.mean())


def _plan(block, motor, rng):
    """Trials of a block in order: a third of the imagery, the idle stretches, and flickers where nothing was learnt."""
    _, onsets, tasks, idle, spare = block
    plan = []
    for i in range(0, len(onsets), 3):
        plan.append({"at": onsets[i], "task": int(tasks[i]), "motor": motor("imagery")[i]})
    resting = motor("idle")
    plan += [{"at": at, "task": IDLE, "motor": resting[i]} for i, at in enumerate(idle)]
    for at in spare:
        behaviour = rng.choice(list(BEHAVIOURS))
        task = int(rng.choice([task for task in BEHAVIOURS[behaviour][2] if task in SSVEP_HZ]))
        plan.append({"at": at, "task": task, "motor": resting[rng.integers(len(resting))], "behaviour": behaviour})
    for trial in plan:
        if "behaviour" not in trial:
            trial["behaviour"] = rng.choice([code for code, row in BEHAVIOURS.items() if trial["task"] in row[2]])
        allowed = BEHAVIOURS[int(trial["behaviour"])][2]
        trial["possible"] = np.isin(np.arange(1, TASKS + 1), allowed)
    return sorted(plan, key=lambda trial: trial["at"])


def _play(eeg, plan, flicker, made_up, rng):
    """Every trial with its evidence (TIMES, 4), the flicker decoder learning from those it is sure of."""
    samples = eeg.shape[1]
    stream = np.asarray(eeg[OCCIPITAL], dtype=float)
    stream[:, :samples] += _responses(plan, samples, made_up, rng)
    weights = TaskWeights()
    flicker.new_block()
    at = 0
    for trial in plan:
        start = (int(trial["at"]) // PACKET_N + 1) * PACKET_N
        while at < start:
            flicker.push(stream[:, at : at + PACKET_N])
            at += PACKET_N
        flicker.start(int(trial["at"]))
        evidence = []
        for packet in range(1, max(TIMES) + 1):
            flicker.push(stream[:, at : at + PACKET_N])
            at += PACKET_N
            if packet in TIMES:
                evidence.append(flicker.evidence())
        posterior = weights.posterior(trial["motor"][-1], evidence[-1], trial["possible"], TASK_S)
        best = int(np.argmax(posterior)) + 1
        if best in SSVEP_HZ and posterior[best - 1] > SURE:
            flicker.learn(best - min(SSVEP_HZ))
        flicker.stop()
        yield trial, np.array(evidence)


def _responses(plan, samples, made_up, rng):
    """What the simulated person adds to the occipital channels, (channels, samples)."""
    script = Script(RATE)
    for trial in plan:
        if trial["task"] in SSVEP_HZ:
            script.add((int(trial["at"]) - script.now_n) / RATE, "rest")
            kind, params = task_step(trial["task"])
            script.add(TASK_S, kind, **params)
    script.add(max(0, samples - script.now_n) / RATE, "rest")
    courses = evoked(made_up, script.timeline("turing/1", "train", 1, 1), rng)[:, :samples]
    whole = maps(made_up, electrodes((*NAMES, REFERENCE)))
    return (whole[:-1] - whole[-1]) @ courses
