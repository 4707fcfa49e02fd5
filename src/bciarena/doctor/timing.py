"""What disturbs clocks on this machine: ``arena doctor --timing``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bciarena.clocks import disturbed_factor, piece_s, reference_load
from bciarena.doctor import Line
from bciarena.sandbox.pinning import most_matches

PIECES, STEPS = 300, 10_000  # about a millisecond each
NOISY = 1.5  # times the median
STOLEN = 0.01


def examine_timing(proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> Iterator[Line]:
    """Cores, SMT, frequency, load, stolen time and measured noise; one line each, with a remedy."""
    yield _cores()
    yield _smt(sys / "devices/system/cpu/smt/active")
    yield _frequency(sys / "devices/system/cpu")
    yield _load(proc / "loadavg")
    before = _ticks(proc / "stat")
    noise = _noise()
    yield _steal(before, _ticks(proc / "stat"))
    yield noise
    yield _reference()


def _cores() -> Line:
    allowed = os.sched_getaffinity(0)
    own = most_matches(allowed)
    if own:
        return Line("cores", "ok", f"{len(allowed)}: up to {own} ranked matches at a time get one each (--slots {own})")
    return Line("cores", "limited", f"{len(allowed)}: too few for a match to have its own",
                "use 3 cores or more; here play one match at a time: arena worker --slots 1")  # fmt: skip


def _smt(path: Path) -> Line:
    try:
        active = path.read_text().strip() == "1"
    except OSError:
        return Line("SMT", "limited", "not known here", "on a virtual machine ask for whole cores")
    if active:
        return Line("SMT", "limited", "on: two logical cores share one physical core",
                    "echo off > /sys/devices/system/cpu/smt/control")  # fmt: skip
    return Line("SMT", "ok", "off, as far as this machine can see")


def _frequency(cpu: Path) -> Line:
    found = sorted({path.read_text().strip() for path in cpu.glob("cpu[0-9]*/cpufreq/scaling_governor")})
    if not found:
        return Line("frequency", "limited", "not known here",
                    "on a virtual machine its host decides: set its governor to performance")  # fmt: skip
    words = f"governor {', '.join(found)}"
    if found == ["performance"]:
        return Line("frequency", "ok", words)
    return Line("frequency", "limited", words, "cpupower frequency-set -g performance")


def _load(path: Path) -> Line:
    minute, cores = float(path.read_text().split()[0]), len(os.sched_getaffinity(0))
    words = f"{minute:.2f} over the last minute on {cores} cores"
    if minute <= cores / 2:
        return Line("load", "ok", words)
    return Line("load", "limited", words, "stop other programs, or play fewer matches at once")


def _ticks(path: Path) -> list[int] | None:
    """Counters of all cores together: user, nice, system, idle, iowait, irq, softirq, steal."""
    first = path.read_text().splitlines()[0].split()
    return [int(number) for number in first[1:9]] if first[0] == "cpu" and len(first) > 8 else None


def _steal(before: list[int] | None, after: list[int] | None) -> Line:
    if not before or not after:
        return Line("steal", "limited", "not known here", "ask whoever runs the host")
    now = (after[7] - before[7]) / max(sum(after) - sum(before), 1)
    words = f"{now:.1%} just now, {after[7] / max(sum(after), 1):.1%} since the machine started"
    if max(now, after[7] / max(sum(after), 1)) < STOLEN:
        return Line("steal", "ok", words)
    return Line("steal", "limited", words, "the host gives this machine's time to others: ask for dedicated cores")


def _noise() -> Line:
    took_s = sorted(piece_s(STEPS) for _ in range(PIECES))
    middle_s, p99_s = median(took_s), took_s[PIECES * 99 // 100]
    words = f"a piece of work takes {middle_s * 1e3:.2f} ms (median), {p99_s * 1e3:.2f} ms (p99)"
    if p99_s < NOISY * middle_s:
        return Line("noise", "ok", words)
    return Line("noise", "limited", words, "chance decides about answers near a time limit: stop other programs")


def _reference() -> Line:
    load, factor = reference_load(), disturbed_factor()
    words = f"{load.took_s * 1e3:.1f} ms, {load.times:.2f} times the best of this machine"
    if load.times <= factor:
        return Line("reference load", "ok", words)
    return Line("reference load", "limited", words, f"above {factor:g} times a ranked run is postponed")
