"""Rehearses matches on the training blocks, to learn how to weight the evidence and when to answer.

The training set has imagery and idle stretches, but no flicker. So responses of simulated people (amplitudes,
latencies, maps and lapses drawn from the simulator's documented distributions) are added to idle stretches that the
imagery model was not trained on, and the flicker decoder goes through the blocks as in a match, learning as it goes.
"""

import numpy as np

from bciarena.contests.turing.blocks import learn_patience
from bciarena.contests.turing.protocol import task_step
from bciarena.contests.turing.rules import BEHAVIOURS, SSVEP_HZ
from bciarena.contests.turing.soccer import play_block
from bciarena.contests.turing.tasks import TASKS, TaskWeights, fit_weights, prior
from bciarena.decoders.phase_locked import PhaseLockedFlicker
from bciarena.protocol.timeline import Script
from bciarena.simulator.evoked import evoked, maps
from bciarena.simulator.head import electrodes
from bciarena.simulator.person import draw_person

RATE, PACKET_N, TASK_S = 250, 10, 5.0
OCCIPITAL = [42, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58]
NAMES = ("Pz", "POz", "PO3", "PO4", "PO5", "PO6", "PO7", "PO8", "Oz", "O1", "O2")
REFERENCE = "CPz"
TIMES = (*range(9, 30, 3), *range(30, 123, 6), 123)  # packets: 0.36 s to 4.92 s
BLOCKS = 4  # of each person: enough to learn from, and training stays short
GAMES = 60
LEAN = 40  # trials of everyone in what is expected of a person
SURE = 0.95
IDLE = 7


def rehearse(people, motor, seed=2026):
    """Weights of the evidence, patience, and how each person does at each price of a right answer.

    Parameters
    ----------
    people : dict
        Person -> blocks as (eeg (channels, n), onsets of imagery, tasks, idle onsets learnt from, idle onsets not).
    motor : callable
        (person, block, "imagery" or "idle") -> left-out probabilities (trials, TIMES, 3) in the order of the onsets.
    """
    rng = np.random.default_rng(seed)
    draw = _behaviours(rng)
    kept = [[], [], [], [], []]
    for person, blocks in people.items():
        made_up = draw_person(seed, "rehearsal", person)
        flicker = PhaseLockedFlicker([SSVEP_HZ[task] for task in sorted(SSVEP_HZ)], RATE, len(OCCIPITAL))
        for number, block in enumerate(blocks[:BLOCKS]):
            plan = _plan(block, lambda kind, p=person, n=number: motor(p, n, kind), draw, rng)
            for trial, evidence in _play(block[0], plan, flicker, made_up, rng):
                values = (trial["motor"], evidence, trial["prior"], trial["task"] - 1, person)
                for column, value in zip(kept, values, strict=True):
                    column.append(value)
    motors, flickers, priors, truth, who = (np.array(column) for column in kept)
    times_s = np.array(TIMES) * PACKET_N / RATE
    weights = fit_weights(motors, flickers, priors, truth, times_s)
    before = np.broadcast_to(priors[:, None], (*motors.shape[:2], TASKS))
    posteriors = weights.posterior(motors, flickers, before, np.broadcast_to(times_s, motors.shape[:2]))
    patience = learn_patience(posteriors, truth, times_s.tolist())
    return weights, patience, _ways(patience, posteriors, truth, who)


def _ways(patience, posteriors, truth, who):
    """Person (0: a stranger) -> share right and mean seconds at each price, leaning on everyone's.

    Half of the share right is counted, half is what the posterior believes: few trials count badly.
    """
    played = [patience.play(posteriors, price) for price in patience.prices_s]
    rows = np.arange(len(truth))
    moments = [np.searchsorted(patience.times_s, seconds) for _, seconds in played]
    believed = np.array([posteriors[rows, at].max(axis=-1) for at in moments])
    hit = np.array([answer == truth for answer, _ in played])
    sure, seconds = 0.5 * (believed + hit), np.array([seconds for _, seconds in played])
    ways = {0: (sure.mean(axis=1), seconds.mean(axis=1))}
    for n in np.unique(who).tolist():
        mine = who == n
        share = mine.sum() / (mine.sum() + LEAN)
        own = (sure[:, mine].mean(axis=1), seconds[:, mine].mean(axis=1))
        ways[n] = tuple(share * part + (1 - share) * usual for part, usual in zip(own, ways[0], strict=True))
    return {n: {"accuracy": a.tolist(), "length_s": t.tolist()} for n, (a, t) in ways.items()}


def _behaviours(rng):
    """Behaviour codes and how often they come with each task: some blocks of soccer are played."""
    joint = np.zeros((max(BEHAVIOURS) + 1, TASKS))
    for trial in (trial for _ in range(GAMES) for trials in play_block(rng) for trial in trials):
        joint[trial.behaviour] += prior(trial.behaviour)
    return joint


def _plan(block, motor, joint, rng):
    """Trials of a block in order, tasks about as often as in a match: some imagery, most idle, flickers elsewhere."""
    _, onsets, tasks, idle, spare = block
    resting, imagined = motor("idle"), motor("imagery")
    plan = [{"at": at, "task": None, "motor": resting[rng.integers(len(resting))]} for at in spare]
    share = joint.sum(axis=0) / joint[:, 2:6].sum()  # trials of each task for one flicker
    few = rng.permutation(len(onsets))[: round(len(spare) * share[:2].sum())]
    plan += [{"at": onsets[i], "task": int(tasks[i]), "motor": imagined[i]} for i in few]
    few = rng.permutation(len(idle))[: round(len(spare) * share[IDLE - 1])]
    plan += [{"at": idle[i], "task": IDLE, "motor": resting[i]} for i in few]
    for trial in plan:
        if trial["task"] is None:
            trial["task"] = int(rng.choice(list(SSVEP_HZ), p=joint[:, 2:6].sum(axis=0) / joint[:, 2:6].sum()))
        column = joint[:, trial["task"] - 1]
        trial["prior"] = prior(int(rng.choice(len(column), p=column / column.sum())))
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
            flicker.push(stream[:, at : min(at + RATE, start)])
            at = min(at + RATE, start)
        flicker.start(int(trial["at"]))
        evidence = []
        for packets in np.diff([0, *TIMES]):
            flicker.push(stream[:, at : at + packets * PACKET_N])
            at += int(packets) * PACKET_N
            evidence.append(flicker.evidence())
        posterior = weights.posterior(trial["motor"][-1], evidence[-1], trial["prior"], TASK_S)
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
