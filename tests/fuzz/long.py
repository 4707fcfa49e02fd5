"""A long run, guided by coverage where atheris is installed (pip install atheris), else by chance.

    python -m tests.fuzz.long --inputs 1000000 --out finds

Every target gets its share of the inputs, starting from the kept corpus. What a target does beside reading and
refusing is written to the output folder, one file per find, and the run goes on with the next target. The last lines
are the counts for SECURITY.md.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def by_chance(name: str, inputs: int, out: Path) -> int:
    from tests.fuzz.mutate import mutated
    from tests.fuzz.targets import TARGETS

    warnings.simplefilter("ignore")
    kept = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    draw = random.Random()
    for number in range(inputs):
        raw = mutated(draw.choice(kept), draw)
        began = time.process_time()
        try:
            TARGETS[name](raw)
        except Exception as error:
            (out / f"{name}-{type(error).__name__}").write_bytes(raw)
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            return number + 1
        if time.process_time() - began > 5:
            (out / f"{name}-slow").write_bytes(raw)
    return inputs


def guided(name: str, inputs: int, out: Path) -> None:
    """Runs in a process of its own, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=["bciarena", "packaging", "yaml", "tomllib"]):
        from tests.fuzz.targets import TARGETS

        warnings.simplefilter("ignore")
        TARGETS[name](b"")  # imports what it reads with, which is no reading
    grown = out / "corpus" / name
    grown.mkdir(parents=True, exist_ok=True)
    options = [
        f"-runs={inputs}",
        "-max_len=4096",
        "-timeout=10",
        "-rss_limit_mb=4096",
        f"-artifact_prefix={out}/{name}-",
    ]
    atheris.Setup([name, *options, "-print_final_stats=1", str(grown), str(CORPUS / name)], TARGETS[name])
    atheris.Fuzz()


def main() -> int:
    from tests.fuzz.targets import COSTLY, TARGETS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="one target, in this process")
    parser.add_argument("--guided", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.only and given.guided:
        guided(given.only, given.inputs, given.out)
        return 0
    weights = {name: 1 / COSTLY.get(name, 1) for name in TARGETS}
    total, found = 0, 0
    for name in [given.only] if given.only else TARGETS:
        share = given.inputs if given.only else max(1000, round(given.inputs * weights[name] / sum(weights.values())))
        if find_spec("atheris"):
            words = ["--only", name, "--guided", "--inputs", str(share), "--out", str(given.out)]
            done = subprocess.run([sys.executable, "-m", "tests.fuzz.long", *words], capture_output=True, text=True)
            said = re.findall(r"number_of_executed_units:\s*(\d+)", done.stderr) or re.findall(r"#(\d+)", done.stderr)
            count, bad = int(said[-1]) if said else 0, done.returncode != 0
            if bad:
                (given.out / f"{name}.log").write_text(done.stderr[-20000:])
        else:
            count = by_chance(name, share, given.out)
            bad = count < share
        total, found = total + count, found + bad
        print(f"{name}: {count} inputs{', a find' if bad else ''}", flush=True)
    print(f"{total} inputs in all, {found} targets with a find")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
