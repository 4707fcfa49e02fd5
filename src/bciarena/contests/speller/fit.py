"""Fits the speller's posterior and thresholds: ``python -m bciarena.contests.speller.fit OUT.json DIR [DIR ...]``.

Every DIR is a data folder with the speller's codes: people who spell, people at rest, or both. The speller goes through
all of it, and its evidence is fitted in two steps: the :class:`~bciarena.decoders.onset.OnsetPool` by maximum
likelihood, then the :class:`~bciarena.decoders.stopping.StoppingPolicy` by the challenge's own score. Both are fitted
again without each folder of people who spell, to see how well that generalises. ``DIR+NOISE+NOISE`` stands for six
weaker people: blocks of the first person of DIR with EEG from the NOISE folders added. An idle test costs people of
medium strength most, and real recordings of such people with idle trials are rare; they are left out together with
DIR. Folders after ``--`` take part in the second step only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import signal
from scipy.optimize import minimize

from bciarena.contests.speller.rules import FREQUENCY_HZ
from bciarena.decoders.asynchronous import AsynchronousSpeller, Settings
from bciarena.decoders.onset import OnsetDecision, OnsetPool
from bciarena.decoders.stopping import Itr, StoppingPolicy
from bciarena.errors import BadInput
from bciarena.recording import Block, Recording, open_recording

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KEYS, RATE, PACKET_N = 40, 250, 10
OCCIPITAL = (42, 49, 50, 51, 52, 53, 56, 57, 58)
BOUNDS = {
    "growth": (0.3, 1.2),
    "level": (0.2, 1.5),
    "spread": (0.1, 1.0),
    "cold_level": (3, 20),
    "cold_spread": (0.2, 1.5),
    "noise": (0.7, 1.6),
    "warm_noise": (0.8, 2.5),
    "knee": (1, 3),
    "tail": (1, 4),
    "cold_odds": (-12, 2),
    "warm_odds": (-12, 4),
}
STARTS = (0.9, 0.92, 0.95, 0.98, 0.99)
ENDS = (0.5, 0.6, 0.7, 0.8, 0.9)
# Somebody who has shown no flicker yet may be at rest throughout: false alarms set these odds, not the likelihood.
COLD_ODDS = (-4.0, -5.0, -6.0, -7.0)
SCORE = Itr(KEYS, missing_s=5.0)
# Above the rule's .10 (mean over people) the score is 0: aim at half of it.
MOST_FPR = 0.05
# One false alarm in twenty minutes of people who do not spell at all, as a share of their trials of 7 s.
AT_REST = 0.006


@dataclass
class Trace:
    """The speller's evidence in one block.

    Attributes
    ----------
    person : str
    now : array (steps,)
        Packets handed out.
    scores, untaught : array (steps, windows, keys)
        With and without the template; NaN where a window is longer than the block so far.
    usual, taught : array (steps,)
        See :meth:`AsynchronousSpeller.usual`; trials learnt so far.
    starts, truth : array (trials,)
        Packets handed out when each trial begins to count, and its key; -1: idle.
    packets : int
        Length of the block.
    """

    person: str
    now: Ints
    scores: Floats
    untaught: Floats
    usual: Floats
    taught: Ints
    starts: Ints
    truth: Ints
    packets: int


class Listener(AsynchronousSpeller):
    """The speller, recording its evidence."""

    def new_block(self) -> None:
        """Begin a new record."""
        super().new_block()
        self.seen: list[tuple[int, Floats, Floats, float, int]] = []

    def scores(self) -> Floats:
        """The speller's scores, which are recorded."""
        rows = super().scores()
        whole = np.full((2, len(self.settings.windows), KEYS), np.nan)
        whole[0, : len(rows)] = rows.reshape(-1, KEYS)
        whole[1, : len(rows)] = self._correlation.reshape(-1, KEYS)
        self.seen.append((self.cca.packets, whole[0], whole[1], self.usual(), self.template.trials))
        return rows


def weakened(recording: Recording, noises: Sequence[Recording]) -> list[tuple[str, list[Block]]]:
    """Six people of one block each, their background 1, 1.5 or 2.2 times their own stronger than recorded (5-40 Hz)."""
    band = signal.butter(4, (5, 40), "band", fs=RATE, output="sos")
    blocks = recording.subjects[0].blocks
    rows = list(OCCIPITAL)
    people = []
    for i, gain in enumerate((1.0, 1.0, 1.5, 1.5, 2.2, 2.2)):
        block = blocks[(i + 1) // 2 % len(blocks)]
        other = i // 2 + 3 * (i % 2)
        pieces = [np.asarray(b.eeg[rows], dtype=float) for n in noises for b in n.subjects[other].blocks]
        noise = np.concatenate([p - p.mean(axis=1, keepdims=True) for p in pieces], axis=1)
        noise = np.concatenate([noise, noise[:, ::-1]], axis=1)[:, : block.samples]
        if noise.shape[1] < block.samples:
            raise BadInput(f"{noises[0].folder}: its people have less than half the EEG needed to cover {block.source}")
        eeg = np.array(block.eeg, dtype=float)
        own, added = (np.sqrt((signal.sosfilt(band, x) ** 2).mean()) for x in (eeg[rows], noise))
        eeg[rows] += gain * own / added * noise
        people.append((f"weakened {i + 1} (x{gain:g})", [replace(block, eeg=eeg)]))
    return people


def listen(people: Sequence[tuple[str, Sequence[Block]]], name: str) -> list[Trace]:
    """Traces of all blocks of people."""
    traces = []
    for person, blocks in people:
        speller: Listener | None = None
        for block in blocks:
            rows = [r for r in OCCIPITAL if np.ptp(block.eeg[r, : 10 * PACKET_N]) > 0]
            if not rows:
                raise BadInput(f"{block.source}: no occipital channel carries a signal")
            if speller is None:
                speller = Listener(FREQUENCY_HZ, RATE, PACKET_N, len(rows))
            else:
                speller.new_block()
            data = np.asarray(block.eeg[rows], dtype=float)
            codes = np.asarray(block.trigger)
            for at in range(0, data.shape[1] - PACKET_N + 1, PACKET_N):
                if 242 in codes[at : at + PACKET_N]:
                    speller.begin()
                speller.push(data[:, at : at + PACKET_N])
            onset = np.flatnonzero(((codes >= 1) & (codes <= KEYS)) | ((codes >= 101) & (codes <= 141)))
            now, scores, untaught, usual, taught = zip(*speller.seen, strict=True)
            traces.append(
                Trace(
                    f"{name}/{person}",
                    np.array(now),
                    np.array(scores),
                    np.array(untaught),
                    np.array(usual),
                    np.array(taught),
                    onset // PACKET_N + 1,
                    np.where(codes[onset] <= KEYS, codes[onset] - 1, -1).astype(int),
                    data.shape[1] // PACKET_N,
                )
            )
    return traces


def labels(trace: Trace, settings: Settings) -> Ints:
    """Key under the gaze at every step, `KEYS` for none, -1 where a window mixes both: (steps,)."""
    shortest, longest = settings.windows[0], settings.windows[-1]
    out = np.full(len(trace.now), KEYS)
    for start, key in zip(trace.starts, trace.truth, strict=True):
        if key >= 0:
            since = trace.now - start - settings.latency_packets
            out[(since > -settings.latency_packets) & (since <= 2 * longest)] = -1
            out[(since >= shortest) & (since <= longest + 6)] = key
    out[np.isnan(trace.scores).any(axis=(1, 2))] = -1
    return out


def fit_pool(traces: Sequence[Trace], settings: Settings, every: int = 12) -> OnsetPool:
    """The pool with the highest likelihood on every `every`-th step.

    Flicker and idle time count equally in every block, and blocks count equally: a recording without pauses must not
    teach that people always spell.
    """
    picked = [np.flatnonzero(labels(t, settings) >= 0)[::every] for t in traces]
    scores = np.concatenate([t.scores[p] for t, p in zip(traces, picked, strict=True)])
    untaught = np.concatenate([t.untaught[p] for t, p in zip(traces, picked, strict=True)])
    usual = np.concatenate([t.usual[p] for t, p in zip(traces, picked, strict=True)])
    taught = np.concatenate([t.taught[p] for t, p in zip(traces, picked, strict=True)])
    truth = np.concatenate([labels(t, settings)[p] for t, p in zip(traces, picked, strict=True)])
    block = np.repeat(np.arange(len(traces)), [len(p) for p in picked])
    shares = np.array(settings.windows) / settings.windows[-1]
    attended = truth < KEYS
    if not attended.any() or attended.all():
        raise BadInput("people who spell and people at rest are both needed: give a folder of each")
    cell = 2 * block + attended
    weight = 1 / np.bincount(cell)[cell]
    start = OnsetPool()

    def loss(values: Floats) -> float:
        odds = start.moved(list(BOUNDS), values).log_odds(scores, shares, usual, untaught, taught)
        everything = np.logaddexp(0, np.logaddexp.reduce(odds.reshape(len(odds), -1), axis=1))
        own = np.zeros(len(odds))
        own[attended] = np.logaddexp.reduce(odds[attended, :, truth[attended]], axis=1)
        return float(weight @ (everything - own) / weight.sum())

    first = np.array([getattr(start, name) for name in BOUNDS])
    best = minimize(loss, first, method="L-BFGS-B", bounds=list(BOUNDS.values()), options={"ftol": 1e-5})
    return start.moved(list(BOUNDS), best.x)


def replay(trace: Trace, odds: Floats, policy: StoppingPolicy, settings: Settings) -> tuple[Ints, Floats]:
    """First answer (-1: none) and seconds used of every trial of a block."""
    decision = OnsetDecision(
        policy, settings.windows, PACKET_N / RATE, settings.latency_packets, settings.trial_packets
    )
    answer, length = np.full(len(trace.starts), -1), np.full(len(trace.starts), SCORE.missing_s)
    # No threshold is reached where the best of 240 hypotheses is this far below idle.
    for i in np.flatnonzero(np.nanmax(odds, axis=(1, 2), initial=-np.inf) > -1.5):
        now = int(trace.now[i])
        key = decision.step(now, odds[i, ~np.isnan(odds[i, :, 0])])
        trial = int(np.searchsorted(trace.starts, now)) - 1
        if key is not None and trial >= 0 and answer[trial] < 0:
            used = (now - trace.starts[trial]) * PACKET_N / RATE
            # After five seconds any answer is wrong.
            answer[trial], length[trial] = (key if used < SCORE.missing_s else KEYS), used
    return answer, length


def choose_policy(traces: Sequence[Trace], pool: OnsetPool, settings: Settings) -> tuple[OnsetPool, StoppingPolicy]:
    """The policy with the best mean score of those who spell that leaves those at rest alone; the pool has its odds."""
    spelling = sorted({t.person for t in traces if (t.truth >= 0).any()})
    first_s, last_s = (w * PACKET_N / RATE for w in (settings.windows[0], settings.windows[-1]))
    policies = [
        StoppingPolicy(first_s, last_s, start, end, False, None, KEYS)
        for start in STARTS
        for end in ENDS
        if end <= start
    ]
    family = [(replace(pool, cold_odds=odds), policy) for odds in COLD_ODDS for policy in policies]
    scores = np.zeros((len(family), len(spelling)))
    alarms = np.full((len(family), len(spelling) + 1), np.nan)  # of each, and of those who never spell
    for i, (member, policy) in enumerate(family):
        if i % len(policies) == 0:
            odds = evidence(traces, member, settings)
        played = play(traces, odds, policy, settings)
        for j, person in enumerate([*spelling, None]):
            own = [p for name, p in played.items() if (name == person if person else name not in spelling)]
            if not own:
                continue
            truth, answer, length = (np.concatenate(part) for part in zip(*own, strict=True))
            if (truth < 0).any():
                alarms[i, j] = np.mean(answer[truth < 0] >= 0)
            if person:
                scores[i, j] = SCORE(truth, answer, length)
    return family[_best(scores, alarms)]


def evidence(traces: Sequence[Trace], pool: OnsetPool, settings: Settings) -> list[Floats]:
    """Log odds of every block."""
    shares = np.array(settings.windows) / settings.windows[-1]
    return [pool.log_odds(t.scores, shares, t.usual, t.untaught, t.taught) for t in traces]


def play(
    traces: Sequence[Trace], odds: Sequence[Floats], policy: StoppingPolicy, settings: Settings
) -> dict[str, tuple[Ints, Ints, Floats]]:
    """Truth, answer and seconds used of all trials of every person."""
    out: dict[str, list[tuple[Ints, Ints, Floats]]] = {}
    for t, own in zip(traces, odds, strict=True):
        out.setdefault(t.person, []).append((t.truth, *replay(t, own, policy, settings)))
    return {
        person: (np.concatenate(truth), np.concatenate(answer), np.concatenate(length))
        for person, (truth, answer, length) in ((p, zip(*blocks, strict=True)) for p, blocks in out.items())
    }


def left_out(traces: Sequence[Trace], settings: Settings) -> dict[str, tuple[float, int, int]]:
    """Score, false alarms and idle trials of everybody who spells, all fitted without their folder."""
    out = {}
    folders = {t.person: t.person.split("/")[0].split("+")[0] for t in traces}
    spelling = {t.person for t in traces if (t.truth >= 0).any()}
    for folder in sorted({folders[person] for person in spelling}):
        others = [t for t in traces if folders[t.person] != folder]
        if not any(t.person in spelling for t in others) or all(t.person in spelling for t in others):
            continue
        pool, policy = choose_policy(others, fit_pool(others, settings), settings)
        mine = [t for t in traces if folders[t.person] == folder]
        played = play(mine, evidence(mine, pool, settings), policy, settings)
        for person, (truth, answer, length) in played.items():
            idle = truth < 0
            out[person] = (SCORE(truth, answer, length), int((answer[idle] >= 0).sum()), int(idle.sum()))
    return out


def _best(scores: Floats, alarms: Floats) -> int:
    """Row with the highest mean score of those that keep to both limits; without one, the quietest."""
    known = ~np.isnan(alarms[:, :-1]).all(axis=0)
    fpr = alarms[:, :-1][:, known].mean(axis=1) if known.any() else np.zeros(len(scores))
    rest = np.nan_to_num(alarms[:, -1])
    allowed = (fpr <= MOST_FPR) & (rest <= AT_REST)
    return int(np.where(allowed, scores.mean(axis=1), -fpr - rest).argmax())


def main(arguments: Sequence[str]) -> None:
    """Fit and store."""
    from rich.progress import track

    if len(arguments) < 2:
        raise BadInput("usage: python -m bciarena.contests.speller.fit OUT.json DIR [DIR ...] [-- DIR ...]")
    out, given = Path(arguments[0]), [a for a in arguments[1:] if a != "--"]
    fitting = arguments[1:].index("--") if "--" in arguments else len(given)
    wanted = [[Path(part) for part in a.split("+")] for a in given]
    opened = [[open_recording(folder) for folder in folders] for folders in wanted]
    heard: list[list[Trace]] = []
    for folders, (first, *noises) in track(list(zip(wanted, opened, strict=True)), "listening"):
        people = weakened(first, noises) if noises else [(s.name, list(s.blocks)) for s in first.subjects]
        heard.append(listen(people, "+".join(folder.name for folder in folders)))
    first_step, second_step = ([t for part in heard[at] for t in part] for at in (slice(fitting), slice(fitting, None)))
    store(first_step, second_step, out)


def store(traces: Sequence[Trace], further: Sequence[Trace], out: Path) -> None:
    """Fit, write the file, print what people left out would have scored; `further` people only choose the policy."""
    settings = Settings()
    pool, policy = choose_policy([*traces, *further], fit_pool(traces, settings), settings)
    told = [", ".join(sorted({t.person for t in part})) for part in (traces, further)]
    values = {"from": told[0], "policy_also_from": told[1], "pool": pool.to_dict(), "policy": policy.to_dict()}
    out.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    for person, (score, alarms, idle) in left_out([*traces, *further], settings).items():
        print(f"{person}: {score:.1f} bits/min, {alarms} false alarms in {idle} trials, fitted without its folder")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BadInput as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        sys.exit(2)
