"""``python -m tests.chaos``: storms by seed on SQLite, PostgreSQL and a Ray cluster; ends with 1 on any loss."""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bciarena.bench.postgres import Server, programs
from tests.chaos.storm import COUNTED, Storm


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--on", default="sqlite,postgresql,ray")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--strikes", type=int, default=30)
    given = parser.parse_args()
    bad = 0
    for kind in given.on.split(","):
        missing = _why_not(kind)
        if missing:
            print(f"{kind}: left out: {missing}", flush=True)
            continue
        total: Counter[str] = Counter()
        struck: Counter[str] = Counter()
        for seed in range(given.first, given.first + given.seeds):
            began = time.monotonic()
            counts, strikes, told = _blow(kind, seed, given.jobs, given.strikes)
            if any(counts.values()):
                print("\n".join(told))
            total.update(counts)
            struck.update(strikes)
            said = ", ".join(f"{name} {counts[name]}" for name in COUNTED)
            took = time.monotonic() - began
            print(f"{kind}, seed {seed}: {sum(strikes.values())} faults in {took:.0f} s: {said}", flush=True)
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(struck.items()))
        print(f"{kind}, all: {sum(struck.values())} faults ({kinds}); {dict(total)}", flush=True)
        bad += sum(total.values())
    return 1 if bad else 0


def _why_not(kind: str) -> str:
    if kind == "postgresql" and programs() is None:
        return "PostgreSQL is not installed"
    if kind == "ray" and importlib.util.find_spec("ray") is None:
        return "Ray is not installed (pip install 'bciarena[ray]')"
    return "" if kind in ("sqlite", "postgresql", "ray") else "unknown"


def _blow(kind: str, seed: int, jobs: int, strikes: int) -> tuple[dict[str, int], Counter[str], list[str]]:
    with tempfile.TemporaryDirectory(prefix="arena-chaos-") as place:
        folder = Path(place)
        url, more, closing = f"sqlite:///{folder / 'arena.db'}", {}, []
        if kind == "postgresql":
            server = Server(programs() or Path())
            closing.append(server.close)
            url, more = server.url(), {"restart": server.restart}
        if kind == "ray":
            more, close = _cluster(folder)
            closing.append(close)
        try:
            storm = Storm(folder, url, seed, jobs, **more)
            closing.insert(0, storm.close)
            counts = storm.blow(strikes, workers=1 if kind == "ray" else 3)
            if any(counts.values()):
                for number in range(len(storm.workers.started)):
                    storm.told += re.findall(r"^worker: .*", storm.workers.log(number), re.M)  # Ray says more
            return counts, storm.struck, storm.told
        finally:
            for close in closing:
                close()


def _cluster(folder: Path) -> tuple[dict[str, Any], Any]:
    from tests.jobs.test_ray import Cluster

    (folder / "ray").mkdir()
    cluster = Cluster(folder / "ray", folder / "cache")

    def strike() -> None:
        cluster.order("kill")
        cluster.order("add")

    return {"engine": ("--engine", "ray", "--address", cluster.address), "strike_node": strike}, cluster.close


if __name__ == "__main__":
    sys.exit(main())
