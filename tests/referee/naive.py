"""A second scorer, deliberately naive: walks sample by sample and packet by packet, shares no code with the first.

It exists to disagree. Everything is written from the rules' text with loops and no cleverness.
"""

from __future__ import annotations

import math
from fractions import Fraction

TURING, IMAGERY, SPELLER, LIVENESS, REHAB = "turing/1", "imagery/1", "speller/1", "liveness/1", "rehab/1"
PACKET = {TURING: 10, IMAGERY: 10, SPELLER: 10, LIVENESS: 50, REHAB: 40}
RATE = {TURING: 250, IMAGERY: 250, SPELLER: 250, LIVENESS: 250, REHAB: 1000}
LIMIT = {TURING: 5, IMAGERY: 4, SPELLER: 5, REHAB: 4}


def opens(challenge: str, code: int) -> bool:
    if challenge == TURING:
        return 0 < code < 128 and code % 8 != 0
    if challenge == IMAGERY:
        return code in (201, 202, 203)
    if challenge == SPELLER:
        return 1 <= code <= 40 or 101 <= code <= 141
    if challenge == LIVENESS:
        return 1 <= code <= 23 or 129 <= code <= 151 or 193 <= code <= 215
    return code in (1, 2, 3, 4)


def truth_of(challenge: str, code: int) -> str:
    if challenge == TURING:
        return str(code % 8)
    if challenge == LIVENESS:
        person = code % 64
        bits = ""
        for weight in (16, 8, 4, 2, 1):
            bits += "1" if person & weight else "0"
        return ("1" if code > 128 else "0") + bits
    return str(code)


def valid(challenge: str, value) -> bool:
    if challenge in (LIVENESS, REHAB):
        if challenge == REHAB and type(value) is int:
            value = str(value)
        if type(value) is not str:
            return False
        if challenge == REHAB:
            return value in ("1", "2", "3", "4")
        return len(value) == 6 and set(value) <= {"0", "1"} and 1 <= int(value[1:], 2) <= 23
    if type(value) is float and value == int(value):
        value = int(value)
    if type(value) is not int:
        return False
    return {TURING: 1 <= value <= 7, IMAGERY: 201 <= value <= 203, SPELLER: 1 <= value <= 40}[challenge]


def trials_of(challenge: str, codes: list[int], reports: list[tuple[int, object, float]]):
    """Judge one block: codes per sample; reports as (position, value, think_s). Yields dicts."""
    n, size, rate = PACKET[challenge], len(codes), RATE[challenge]
    ends, at = [], 0
    while at < size:
        at = min(at + n, size)
        ends.append(at)
    found = []
    for sample, code in enumerate(codes):
        if opens(challenge, code):
            start = next(end for end in ends if end > sample)
            found.append({"sample": sample, "code": code, "start": start})
    for index, trial in enumerate(found):
        last = found[index + 1]["start"] if index + 1 < len(found) else size
        mine = [r for r in reports if trial["start"] < r[0] <= last]
        idle = challenge == SPELLER and trial["code"] > 100
        result = {"truth": truth_of(challenge, trial["code"]), "answer": None, "correct": False, "idle": idle}
        if idle:
            result |= {"status": "false_positive" if mine else "quiet", "correct": not mine, "length": None}
            yield result
            continue
        if challenge == LIVENESS:
            close = next(s for s in range(trial["sample"] + 1, size) if codes[s] == 241)
            last_in_time = next(end for end in ends if end > close)
            kept, seen = [], set()
            for r in mine:
                if r[0] not in seen:
                    seen.add(r[0])
                    kept.append(r)
            if not kept:
                yield result | {"status": "missing", "length": Fraction(close - trial["sample"], rate)}
                continue
            position, value, _ = kept[-1]
            length = max(Fraction(position - trial["start"], rate), Fraction(3))
            late = position > last_in_time
        else:
            if not mine:
                yield result | {"status": "missing", "length": Fraction(LIMIT[challenge])}
                continue
            position, value, think = mine[0]
            length = Fraction(position - trial["start"], rate)
            elapsed = length + (Fraction(think) if challenge == SPELLER else 0)
            late = elapsed >= LIMIT[challenge]
        text = (
            str(int(value))
            if type(value) is float and value == int(value) and challenge not in (LIVENESS, REHAB)
            else str(value)
        )
        right = valid(challenge, value) and not late and text == result["truth"]
        if late and challenge == REHAB:
            text = "-1"
        yield result | {
            "status": "late" if late else "in_time", "length": length, "correct": right, "answer": text,
            "valid": valid(challenge, value),
        }  # fmt: skip


def bits(p: Fraction, m: int, t: float) -> float:
    if t <= 0 or p < Fraction(1, m):
        return 0.0
    q = 1 - p
    value = math.log2(m)
    if p:
        value += float(p) * math.log2(float(p))
    if q:
        value += float(q) * math.log2(float(q) / (m - 1))
    return max(0.0, value * 60 / t)


def average(values):
    values = list(values)
    return sum(values) / len(values) if values else 0


def total(challenge: str, blocks: list[tuple[int, list[dict]]]) -> float:
    """The run's score from (subject, trials) per block."""
    if challenge == REHAB:
        points = 0
        for _, trials in blocks:
            for t in trials:
                if t["correct"]:
                    points += 100
                elif t["status"] == "in_time" and t["valid"] and int(t["answer"]) % 2 == int(t["truth"]) % 2:
                    points += 50
        return points
    if challenge == LIVENESS:
        every = [t for _, trials in blocks for t in trials]
        fine = [t for t in every if t["status"] == "in_time" and t["valid"]]
        p1 = Fraction(sum(t["answer"][0] == t["truth"][0] for t in fine), len(every))
        p2 = Fraction(sum(t["answer"][1:] == t["truth"][1:] for t in fine), len(every))
        t = float(average(t["length"] for t in every))
        return 0.9 * bits(p1, 2, t) + 0.1 * bits(p2, 23, t)
    if challenge == TURING:
        scores = []
        for _, trials in blocks:
            need = math.ceil(Fraction(8, 10) * len(trials))
            right, used, score = 0, Fraction(0), 0.0
            for t in trials:
                used += t["length"]
                right += t["correct"]
                if right == need:
                    score = float(200 * right / used)
                    break
            scores.append(score)
        return average(scores)
    if challenge == IMAGERY:
        return average(
            bits(
                Fraction(sum(t["correct"] for t in trials), len(trials)),
                3,
                float(average(t["length"] for t in trials)) + 0.5,
            )
            for _, trials in blocks
        )
    rated, people = [], {}
    for subject, trials in blocks:
        flicker = [t for t in trials if not t["idle"]]
        if flicker:
            p = Fraction(sum(t["correct"] for t in flicker), len(flicker))
            rated.append(bits(p, 40, float(average(t["length"] for t in flicker))))
        people.setdefault(subject, []).extend(t for t in trials if t["idle"])
    rates = [Fraction(sum(t["status"] == "false_positive" for t in ts), len(ts)) for ts in people.values() if ts]
    if rates and sum(rates) / len(rates) > Fraction(1, 10):
        return 0.0
    return average(rated)
