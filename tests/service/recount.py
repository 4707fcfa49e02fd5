"""A second opinion on a jury pack of a speller contest: every number again, from ledgers and recordings alone.

Nothing of bciarena is imported: rules, scores, intervals, ties, draw and signatures are written down here a second
time, in other words. Intervals and tests draw at random on the site; here they are drawn from other numbers, or every
case is gone through, so that they agree closely, not to the last digit.

    python recount.py PACK
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import re
import sys
from math import log2
from pathlib import Path
from statistics import NormalDist

import numpy as np

RATE, PACKET, KEYS, LIMIT_S, MISSING_S, FPR_LIMIT = 250, 10, 40, 5.0, 5.0, 0.10
STILL = range(101, 142)


# ------------------------------------------------------------------ from ledger to sums of blocks


def trials_of(trigger: np.ndarray) -> list[tuple[int, int]]:
    """Code of each trial, and the sample from which it counts: the end of the packet that holds its code."""
    found = [(int(code), at) for at, code in enumerate(trigger) if 1 <= code <= KEYS or code in STILL]
    return [(code, min((at // PACKET + 1) * PACKET, len(trigger))) for code, at in found]


def judged(run: Path, data: Path) -> list[dict]:
    """All trials of a run, in order: subject, block, still or not, right or not, samples used."""
    lines = [json.loads(line) for line in (run / "ledger.jsonl").read_text("utf-8").splitlines()]
    said: dict[tuple[int, int], list[dict]] = {}
    for line in lines:
        if line["type"] == "report":
            said.setdefault((line["subject"], line["block"]), []).append(line)
    files: dict[str, list[Path]] = {}
    for path in data.rglob("block_*.npz"):
        files.setdefault(path.parent.name, []).append(path)
    found = []
    for subject, name in enumerate(sorted(files), 1):
        for block, path in enumerate(sorted(files[name], key=lambda one: int(one.stem.split("_")[1])), 1):
            with np.load(path) as archive:
                trigger = archive["data"][-1]
            trials = trials_of(trigger)
            ends = [start for _, start in trials[1:]] + [len(trigger)]
            for (code, start), end in zip(trials, ends, strict=True):
                own = [line for line in said.get((subject, block), ()) if start < line["position"] <= end]
                found.append({"subject": subject, "block": block, **one(code, start, own)})
    return found


def one(code: int, start: int, reports: list[dict]) -> dict:
    if code in STILL:
        return {"still": True, "right": not reports, "used": 0}
    if not reports:
        return {"still": False, "right": False, "used": round(MISSING_S * RATE)}
    used = reports[0]["position"] - start
    late = used + reports[0]["think_s"] * RATE >= LIMIT_S * RATE
    return {"still": False, "right": not late and reports[0]["value"] == code, "used": used}


def sums(trials: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    """(blocks, 5): flickers, right ones, samples used, still trials, alarms; and the subject of each block."""
    names = list(dict.fromkeys((t["subject"], t["block"]) for t in trials))
    table = np.zeros((len(names), 5))
    for t in trials:
        table[names.index((t["subject"], t["block"]))] += marks(t)
    return table, np.array([subject for subject, _ in names])


def marks(t: dict) -> tuple:
    return (0, 0, 0, 1, not t["right"]) if t["still"] else (1, t["right"], t["used"], 0, 0)


def bits(p: float) -> float:
    if p < 1 / KEYS:
        return 0.0
    rest = (1 - p) * log2((1 - p) / (KEYS - 1)) if p < 1 else 0.0
    return max(0.0, log2(KEYS) + p * log2(p) + rest)


def rates(table: np.ndarray, subject: np.ndarray, weights: np.ndarray | None = None) -> tuple[float, float, float]:
    """Score, accuracy and share of false alarms of some blocks."""
    weights = np.ones(len(table)) if weights is None else weights
    itr, counted = 0.0, 0.0
    for (flickers, right, used, _, _), weight in zip(table, weights, strict=True):
        if flickers:
            itr += weight * 60 * bits(right / flickers) / (used / flickers / RATE)
            counted += weight
    alarms = []
    for person in dict.fromkeys(subject.tolist()):
        still, false = (table[subject == person, 3:] * weights[subject == person, None]).sum(axis=0)
        if still:
            alarms.append(false / still)
    fpr = float(np.mean(alarms)) if alarms else 0.0
    flickers, right = (table[:, :2] * weights[:, None]).sum(axis=0)
    score = itr / counted if counted and fpr <= FPR_LIMIT + 1e-12 else 0.0
    return score, right / flickers if flickers else 0.0, fpr


# ------------------------------------------------------------------ intervals


def t95(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, max(freedom, 1)))


def interval(trials: list[dict], rng: np.random.Generator) -> tuple[float, float] | None:
    """95 %, for new blocks of the same people; at most 16 blocks, as a small contest has."""
    if len(trials) < 3:
        return None
    table, subject = sums(trials)
    value, blocks = rates(table, subject)[0], len(table)
    counts = [int((subject == person).sum()) for person in set(subject.tolist())]
    half, together = 0.0, 1.0
    if blocks >= 3:
        strata = subject if min(counts) >= 2 else np.zeros(blocks)
        freedom = blocks - len(counts) if min(counts) >= 2 else blocks - 1
        drawn = []
        for _ in range(1500):
            weights = np.ones(blocks)
            for one_stratum in set(strata.tolist()):
                own = np.flatnonzero(strata == one_stratum)
                if len(own) > 1:
                    picked = rng.integers(len(own), size=len(own) - 1)
                    weights[own] = np.bincount(picked, minlength=len(own)) * len(own) / (len(own) - 1)
            drawn.append(rates(table, subject, weights)[0])
        half = t95(freedom) * float(np.std(drawn))
    else:
        together = 1 + 0.08 * (len(trials) / blocks - 1)
    by_block = [[t for t in trials if (t["subject"], t["block"]) == name] for name in dict.fromkeys((t["subject"], t["block"]) for t in trials)]  # fmt: skip # noqa: E501
    again = [
        rates(*sums([own[k] for own in by_block for k in rng.integers(len(own), size=len(own))]))[0] for _ in range(600)
    ]
    half = max(half, t95(len(trials) - blocks) * together**0.5 * float(np.std(again)))
    least, most = plausible(trials, value, rng)
    ends = [rates(*sums([turned(t, right, PACKET) for t in trials]))[0] for right in (True, False)]
    floor, ceiling = min(*ends, value), max(*ends, value)
    return max(floor, min(value - half, least)), min(ceiling, max(value + half, most))


def turned(t: dict, right: bool, used: int | None = None) -> dict:
    return {**t, "right": right, "used": used if used and right and not t["still"] else t["used"]}


def plausible(trials: list[dict], value: float, rng: np.random.Generator) -> tuple[float, float]:
    """Scores of all abilities under which a score as high, or as low, comes up often enough: all trials become easier
    or harder together, whole runs are made of the outcomes that happened, and scored."""
    table, subject = sums(trials)
    _, accuracy, fpr = rates(table, subject)
    blocks = {name: k for k, name in enumerate(dict.fromkeys((t["subject"], t["block"]) for t in trials))}
    block_of = np.array([blocks[t["subject"], t["block"]] for t in trials])
    still = np.array([t["still"] for t in trials])
    spread = 0.8 if len(blocks) < 3 else 0.35
    base, error = np.zeros(len(trials)), np.ones(len(trials))
    pools: list[tuple[np.ndarray, np.ndarray]] = [None] * len(trials)  # type: ignore[list-item]
    for quiet in (False, True):
        information = 0.0
        for person in set(subject.tolist()):
            own = [k for k, t in enumerate(trials) if t["subject"] == person and t["still"] == quiet]
            hits = [trials[k] for k in own if trials[k]["right"]]
            misses = [trials[k] for k in own if not trials[k]["right"]]
            if not own:
                continue
            share = (len(hits) + 0.5) / (len(own) + 1)
            information += len(own) * share * (1 - share)
            good = np.array([marks(t) for t in hits or [turned(trials[k], True) for k in own]], float)
            bad = np.array([marks(t) for t in misses or [turned(trials[k], False) for k in own]], float)
            for k in own:
                base[k], pools[k] = np.log(share / (1 - share)), (good, bad)
        if information:
            error[still == quiet] = np.sqrt(1 / information + spread**2 / len(blocks))
    moves = np.array([-10, -6, -4, -3, -2.5, -2, -1.5, -1, 0, 1, 1.5, 2, 2.5, 3, 4, 6, 10.0])
    tails = np.zeros((3, 2, len(moves)))
    means = np.zeros(len(moves))
    draws = 300
    for m, move in enumerate(moves):
        made = np.zeros((draws, 3))
        for d in range(draws):
            lift = base + move * error + spread * rng.standard_normal(len(blocks))[block_of]
            right = rng.random(len(trials)) < 1 / (1 + np.exp(-lift))
            whole = np.zeros((len(blocks), 5))
            for k, (good, bad) in enumerate(pools):
                pool = good if right[k] else bad
                whole[block_of[k]] += pool[rng.integers(len(pool))]
            made[d] = rates(whole, subject)
        means[m] = made[:, 0].mean()
        for n, seen in enumerate((value, accuracy, fpr)):
            tails[n, :, m] = (made[:, n] >= seen - 1e-9).mean(), (made[:, n] <= seen + 1e-9).mean()
    fine = np.linspace(-10, 10, 2001)
    normal = np.vectorize(NormalDist().inv_cdf)
    chance = [
        np.min([np.interp(fine, moves, normal(np.clip(tail, 0.5 / draws, 1 - 0.5 / draws))) for tail in pair], axis=0)
        for pair in tails
    ]
    kept = (chance[0] > NormalDist().inv_cdf(0.025)) & np.all([c > NormalDist().inv_cdf(0.0025) for c in chance[1:]], 0)
    ends = np.append(np.interp(fine, moves, means)[kept], value)
    return float(ends.min()), float(ends.max())


# ------------------------------------------------------------------ ties


def places(tables: list[np.ndarray], subject: np.ndarray, ends: list) -> list[tuple[int, int, float | None, bool]]:
    """Of teams from best to worst: the places each shares, p of its distance to the best of them, and whether any
    outcome could have told them apart.

    Outcomes of equally good teams could be anybody's: all ways to exchange them within blocks are gone through. Teams
    further below the best than chance reaches, or with an interval below the best's, leave the set, and it is tested
    again.
    """
    scores, count, blocks = [rates(table, subject)[0] for table in tables], len(tables), len(subject)
    wide = NormalDist().inv_cdf(1 - 0.01 / (2 * count)) / NormalDist().inv_cdf(0.975)
    bounds = [(-np.inf, np.inf) if one is None else one for one in ends]
    lows = [score - wide * (score - low) for score, (low, _) in zip(scores, bounds, strict=True)]
    highs = [score + wide * (high - score) for score, (_, high) in zip(scores, bounds, strict=True)]
    found: list[tuple[int, int, float | None, bool]] = []
    reach = np.inf
    while len(found) < count:
        best, ranges = len(found), np.zeros(0)
        end = best + sum(scores[best] - score <= reach for score in scores[best:])
        first = True
        while end - best > 1:
            level = 1 - 0.96 ** ((end - best) / count)
            ranges = exchanged(tables[best:end], subject)
            beyond = int(level * (len(ranges) + 1) + 1e-9)
            limit = float(np.sort(ranges)[-beyond]) if beyond else np.inf
            reach, first = (limit, False) if first else (reach, first)
            alike = [k for k in range(best, end) if scores[best] - scores[k] <= limit + 1e-9 and highs[k] >= lows[best]]
            if alike[-1] + 1 == end:
                break
            end = alike[-1] + 1
        size = end - best
        least = float((size * (size - 1)) ** (1 - blocks)) if size > 1 else 0.0
        tested = size == 1 or least <= 1 - 0.96 ** (size / count)
        for k in range(best, end):
            p = None if k == best else float(np.mean(ranges >= scores[best] - scores[k] - 1e-9))
            found.append((best + 1, end, p, tested))
    return found


def exchanged(tables: list[np.ndarray], subject: np.ndarray) -> np.ndarray:
    """The range of scores for every way to exchange the teams' blocks."""
    ranges = []
    for order in itertools.product(list(itertools.permutations(range(len(tables)))), repeat=len(subject)):
        mixed = [np.array([tables[own[k]][b] for b, own in enumerate(order)]) for k in range(len(tables))]
        scores = [rates(table, subject)[0] for table in mixed]
        ranges.append(max(scores) - min(scores))
    return np.array(ranges)


# ------------------------------------------------------------------ the pack


def recount(pack: Path) -> list[str]:
    """What differs from the pack; empty when nothing does."""
    rng = np.random.default_rng(20260719)
    wrong: list[str] = []
    rows = list(csv.DictReader((pack / "jury.csv").read_text("utf-8").splitlines()))
    final = rows[0]["phase"]

    def played(row: dict) -> tuple[Path, Path]:
        own = pack / f"data-run-{row['run']}"
        shared = pack / ("data" if row["phase"] == final else f"data-{row['phase']}")
        return pack / "runs" / row["run"], own if own.is_dir() else shared

    def check(what: str, told: float, found: float, slack: float) -> None:
        if abs(told - found) > slack:
            wrong.append(f"{what}: the pack says {told:g}, here it is {found:g} (allowed {slack:g})")

    last = (0, float("inf"))
    for row in rows:
        trials = judged(*played(row))
        score = rates(*sums(trials))[0]
        check(f"{row['team']}: score", float(row["score"]), score, 1e-9)
        if row["new_people_low"]:
            wrong.append(f"{row['team']}: an interval for new people needs three")
        ends = interval(trials, rng)
        if (ends is None) != (row["low"] == ""):
            wrong.append(f"{row['team']}: an interval is there, or is not")
        elif ends is not None:
            wide = max(ends[1] - ends[0], 1e-6)
            tries = int(row["runs"]) if row["phase"] != final else 1  # the best of several
            low = max(0.0, score - (score - ends[0]) * NormalDist().inv_cdf(1 - 0.025 / tries) / NormalDist().inv_cdf(0.975))  # fmt: skip # noqa: E501
            check(f"{row['team']}: low", float(row["low"]), low, 0.2 * wide)
            check(f"{row['team']}: high", float(row["high"]), ends[1], 0.2 * wide)
        stage = 0 if row["phase"] == final else 1
        if (stage, -score) < (last[0], -last[1]):
            wrong.append(f"{row['team']}: stands below a team it beats")
        last = (stage, score)
        header = json.loads((pack / "runs" / row["run"] / "ledger.jsonl").read_text("utf-8").splitlines()[0])
        if header["data"] != row["data_digest"] or header["rulebook"] != row["rulebook_digest"]:
            wrong.append(f"{row['team']}: the ledger is of other recordings or rules")
    if [int(row["place"]) for row in rows] != list(range(1, len(rows) + 1)):
        wrong.append("places are not 1, 2, 3 ...")
    return wrong + ties(pack, rows, rng) + printed(pack, rows) + drawn(pack)


def ties(pack: Path, rows: list[dict], rng: np.random.Generator) -> list[str]:
    """Who shares places with whom, in every phase, among all whose runs are in the pack."""
    wrong = []
    for phase, runs in runs_by_data(pack).items():
        if phase.startswith("data-run-"):
            wrong += [f"{row['team']}: was compared with others" for row in rows if f"data-run-{row['run']}" == phase and row["p"]]  # fmt: skip # noqa: E501
            continue
        told = {int(row["run"]): row for row in rows}
        all_trials = {run: judged(pack / "runs" / str(run), pack / phase) for run in runs}
        order = sorted(runs, key=lambda run: (-rates(*sums(all_trials[run]))[0], run))
        found = [sums(all_trials[run]) for run in order]
        ends = [interval(all_trials[run], rng) for run in order]
        for run, (first, last, p, tested) in zip(order, places([t for t, _ in found], found[0][1], ends), strict=True):
            row = told.get(run)
            if row is None:  # a finalist's run of the phase before: it has no line of its own
                continue
            if (int(row["tied_from"]), int(row["tied_to"]), row["tested"] == "1") != (first, last, tested):
                wrong.append(f"{row['team']}: places {row['tied_from']} to {row['tied_to']}, here {first} to {last}")
            if (p is None) != (row["p"] == "") or (p is not None and abs(float(row["p"]) - p) > 0.05):
                wrong.append(f"{row['team']}: p is {row['p']}, here {p}")
    return wrong


def runs_by_data(pack: Path) -> dict[str, list[int]]:
    """The runs of the pack by the folder of the recordings they were played on, as their ledgers name them."""
    digests: dict[str, list[int]] = {}
    for run in sorted((pack / "runs").iterdir(), key=lambda path: int(path.name)):
        header = json.loads((run / "ledger.jsonl").read_text("utf-8").splitlines()[0])
        digests.setdefault(header["data"], []).append(int(run.name))
    rows = list(csv.DictReader((pack / "jury.csv").read_text("utf-8").splitlines()))
    final = rows[0]["phase"]
    found = {}
    for row in rows:
        own = f"data-run-{row['run']}"
        name = own if (pack / own).is_dir() else "data" if row["phase"] == final else f"data-{row['phase']}"
        found[name] = digests[row["data_digest"]]
    return found


def printed(pack: Path, rows: list[dict]) -> list[str]:
    """The page says what the table says, and the scores with which teams were admitted are those of their runs."""
    page = (pack / "jury.html").read_text("utf-8")
    wrong = [f"{row['team']}: {row['score']} is not on the page" for row in rows if f"{float(row['score']):.4f}" not in page]  # fmt: skip # noqa: E501
    for row in rows:
        if row["low"] and f"{float(row['low']):.2f} – {float(row['high']):.2f}" not in page:
            wrong.append(f"{row['team']}: its interval is not on the page")
    known = {f"{rates(*sums(judged(pack / 'runs' / str(run), pack / data)))[0]:.4f}"
             for data, runs in runs_by_data(pack).items() for run in runs}  # fmt: skip
    admitted = page.split("<ol>")[1].split("</ol>")[0] if page.count("<ol>") > 1 else ""
    return wrong + [f"admitted with {one}: no run has this score" for one in re.findall(r"\d+\.\d{4}", admitted) if one not in known]  # fmt: skip # noqa: E501


def drawn(pack: Path) -> list[str]:
    """The order by its seed, and every signature with the ledger behind it."""
    path = pack / "stage.json"
    if not path.is_file():
        return []
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    wrong, told = [], json.loads(path.read_text("utf-8"))
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(told["key"]))
    for seal in [*told["repeated"], *told["seals"]]:
        said = seal["said"]
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        try:
            key.verify(bytes.fromhex(seal["signature"]), text)
        except InvalidSignature:
            wrong.append(f"{said['team']}: the signature does not fit")
        order = sorted(said["order"], key=lambda name: hashlib.sha256(f"{said['seed']} {name}".encode()).hexdigest())
        if order != said["order"] or order[said["place"] - 1] != said["team"]:
            wrong.append(f"{said['team']}: the order is not the one its seed gives")
        if seal in told["repeated"]:  # a turn that was played again: its run is not the one that counts
            continue
        ledger = (pack / "runs" / str(said["run"]) / "ledger.jsonl").read_bytes()
        if hashlib.sha256(ledger).hexdigest() != said["ledger_sha256"]:
            wrong.append(f"{said['team']}: the ledger is not the one that was signed")
    return wrong


if __name__ == "__main__":
    differs = recount(Path(sys.argv[1]))
    print("\n".join(differs) or "every number was found again")
    sys.exit(bool(differs))
