"""Fits what the asynchronous speller decides with: ``python -m bciarena.decoders.speller_fit OUT.json DIR [DIR ...]``.

Every DIR is a data folder with the speller's codes: people who spell, people at rest, or both. The speller listens to
all of it without answering; what it saw is fitted in two steps: the :class:`~bciarena.decoders.onset.OnsetPool` by
maximum likelihood, then the :class:`~bciarena.decoders.stopping.StoppingPolicy` by the challenge's own score, each
person left out once to tell how well it carries over.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bciarena.challenges.speller import FREQUENCY_HZ
from bciarena.decoders.asynchronous import AsynchronousSpeller, Settings
from bciarena.decoders.onset import OnsetDecision, OnsetPool
from bciarena.decoders.stopping import Itr, StoppingPolicy
from bciarena.errors import BadInput
from bciarena.recording import Recording, open_recording

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
STARTS = (0.8, 0.85, 0.9, 0.95, 0.98)
ENDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SCORE = Itr(KEYS, missing_s=5.0, max_fpr=0.05)
# One false alarm in ten minutes of people who do not spell at all, as a share of their trials of 7 s.
AT_REST = 0.012


@dataclass
class Trace:
    """What the speller saw in one block.

    Attributes
    ----------
    person : str
    now : array (steps,)
        Packets handed out.
    scores : array (steps, windows, keys)
        NaN where a window is longer than the block so far.
    usual : array (steps,)
        See :meth:`AsynchronousSpeller.usual`.
    starts, truth : array (trials,)
        Packets handed out when each trial begins to count, and its key; -1: idle.
    packets : int
        Length of the block.
    """

    person: str
    now: Ints
    scores: Floats
    usual: Floats
    starts: Ints
    truth: Ints
    packets: int


class Listener(AsynchronousSpeller):
    """The speller as it is, with a record of its evidence."""

    def new_block(self) -> None:
        """Begin a new record."""
        super().new_block()
        self.seen: list[tuple[int, Floats, float]] = []

    def scores(self, now: int) -> Floats:
        """As the speller's, and kept."""
        rows = super().scores(now)
        whole = np.full((len(self.settings.windows), KEYS), np.nan)
        whole[: len(rows)] = rows.reshape(-1, KEYS)
        self.seen.append((now, whole, self.usual()))
        return rows


def listen(recording: Recording, name: str) -> list[Trace]:
    """Traces of all blocks of a data folder."""
    traces = []
    for subject in recording.subjects:
        speller: Listener | None = None
        for block in subject.blocks:
            rows = [r for r in OCCIPITAL if np.ptp(block.eeg[r, : 10 * PACKET_N]) > 0]
            if not rows:
                raise BadInput(f"{block.source}: no occipital channel carries a signal")
            if speller is None:
                speller = Listener(FREQUENCY_HZ, RATE, PACKET_N, len(rows))
            else:
                speller.new_block()
            data = np.asarray(block.eeg[rows], dtype=float)
            for at in range(0, data.shape[1] - PACKET_N + 1, PACKET_N):
                speller.push(data[:, at : at + PACKET_N])
            codes = np.asarray(block.trigger)
            onset = np.flatnonzero(((codes >= 1) & (codes <= KEYS)) | ((codes >= 101) & (codes <= 141)))
            now, scores, usual = zip(*speller.seen, strict=True)
            traces.append(
                Trace(
                    f"{name}/{subject.name}",
                    np.array(now),
                    np.array(scores),
                    np.array(usual),
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
    """The pool with the highest likelihood on every `every`-th step, each block counting as much as any other."""
    picked = [np.flatnonzero(labels(t, settings) >= 0)[::every] for t in traces]
    scores = np.concatenate([t.scores[p] for t, p in zip(traces, picked, strict=True)])
    usual = np.concatenate([t.usual[p] for t, p in zip(traces, picked, strict=True)])
    truth = np.concatenate([labels(t, settings)[p] for t, p in zip(traces, picked, strict=True)])
    weight = np.concatenate([np.full(len(p), 1 / max(len(p), 1)) for p in picked])
    shares = np.array(settings.windows) / settings.windows[-1]
    attended = truth < KEYS
    if not attended.any() or attended.all():
        raise BadInput("people who spell and people at rest are both needed: give a folder of each")
    start = OnsetPool()

    def loss(values: Floats) -> float:
        odds = start.moved(list(BOUNDS), values).log_odds(scores, shares, usual)
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
            # Five seconds and more: wrong whatever it says.
            answer[trial], length[trial] = (key if used < SCORE.missing_s else KEYS), used
    return answer, length


def choose_policy(
    traces: Sequence[Trace], pool: OnsetPool, settings: Settings
) -> tuple[StoppingPolicy, dict[str, float]]:
    """The policy with the best mean score of those who spell that leaves those at rest alone.

    Also the score of each one who spells, with the policy chosen without them.
    """
    shares = np.array(settings.windows) / settings.windows[-1]
    odds = [pool.log_odds(t.scores, shares, t.usual) for t in traces]
    spelling = sorted({t.person for t in traces if (t.truth >= 0).any()})
    first_s, last_s = (w * PACKET_N / RATE for w in (settings.windows[0], settings.windows[-1]))
    pairs = [(start, end) for start in STARTS for end in ENDS if end <= start]
    family = [StoppingPolicy(first_s, last_s, start, end, False, None, KEYS) for start, end in pairs]
    scores = np.zeros((len(family), len(spelling)))
    alarms = np.zeros(len(family))
    for i, policy in enumerate(family):
        played = [replay(t, o, policy, settings) for t, o in zip(traces, odds, strict=True)]
        for j, person in enumerate(spelling):
            own = [(t.truth, *p) for t, p in zip(traces, played, strict=True) if t.person == person]
            truth, answer, length = (np.concatenate(part) for part in zip(*own, strict=True))
            scores[i, j] = SCORE(truth, answer, length)
        rest = [p[0] >= 0 for t, p in zip(traces, played, strict=True) if t.person not in spelling]
        alarms[i] = np.concatenate(rest).mean() if rest else 0.0
    scores[alarms > AT_REST] = -1.0
    held_out = {
        person: float(scores[np.delete(scores, j, axis=1).mean(axis=1).argmax(), j])
        for j, person in enumerate(spelling)
        if len(spelling) > 1
    }
    return family[int(scores.mean(axis=1).argmax())], held_out


def main(arguments: Sequence[str]) -> None:
    """Fit and store."""
    from rich.progress import track

    if len(arguments) < 2:
        raise BadInput("usage: python -m bciarena.decoders.speller_fit OUT.json DIR [DIR ...]")
    out, folders = Path(arguments[0]), [Path(a) for a in arguments[1:]]
    recordings = [open_recording(folder) for folder in folders]
    traces: list[Trace] = []
    for folder, recording in track(list(zip(folders, recordings, strict=True)), "listening"):
        traces += listen(recording, folder.name)
    store(traces, out)


def store(traces: Sequence[Trace], out: Path) -> None:
    """Fit traces, write the file, print what people left out would have scored."""
    settings = Settings()
    pool = fit_pool(traces, settings)
    policy, held_out = choose_policy(traces, pool, settings)
    people = ", ".join(sorted({t.person for t in traces}))
    out.write_text(
        json.dumps({"from": people, "pool": pool.to_dict(), "policy": policy.to_dict()}, indent=1) + "\n",
        encoding="utf-8",
    )
    for person, score in held_out.items():
        print(f"{person}: {score:.1f} bits/min with the policy of the others")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BadInput as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        sys.exit(2)
