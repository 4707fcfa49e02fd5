"""Install the wheel in fresh environments, outside the repository, and try every command there.

    python scripts/matrix.py WHEEL [--python 3.11 3.12 3.13] [--extra '' decode all] [--lowest]

In each environment every command either works or says in one line what is missing, and which extra brings it. With
--lowest everything has the oldest version that pyproject.toml allows. Needs uv and the Pythons that are asked for.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENTRY = "class Mine:\n    def predict(self, X):\n        return [201]\n"
PLAN = 'challenge = "imagery"\nsubject = 1\nout = "s01"\n[[part]]\nsplit = "nowhere"\n'
CONTEST = (
    'slug = "first"\ntitle = "First"\nrulebook = "imagery/1"\n[[phase]]\nname = "practice"\ntruth = "public"\n'
    "[phase.data]\nsimulate = { subjects = 1, blocks = 1, seed = 1 }\n"
)
PROBES = """
--version
challenges --json
entries
new imagery mine
simulate imagery --subjects 1 --blocks 1 --seed 1 --out data
simulate imagery --split train --subjects 1 --blocks 1 --seed 1 --out train
run mine.py:Mine --challenge imagery --data data --out run --sandbox none
run mine.py:Mine --challenge imagery --data data --out again --sandbox none
score run
report run -o report.html
compare run again
export run --format csv -o run.csv
export run --format parquet -o run.parquet
paper run again -o paper
bundle run --data data -o run.crate.zip
verify run.crate.zip
convert data --challenge imagery --format bids -o bids
convert data --challenge imagery --format xdf -o xdf
import xdf --challenge imagery --out imported
import moabb:Nowhere --challenge imagery --out nowhere
release data --challenge imagery --set test --out season
audit data --challenge imagery
plan imagery --difference 10 --people 2 --blocks 2 --boards 5
rulebook new contest
rulebook check contest
check mine.py:Mine --challenge imagery
pack mine --challenge imagery --python 3.11 -o up.zip
train @imagery-baseline --data train --out model
wrap model.onnx --challenge imagery --data train -o wrapped
queue --database sqlite:///q.db
worker --database sqlite:///q.db --storage store --once
sweep mine.py:Mine --challenge imagery --data data --sandbox none --out table.csv
contest create contest.toml --home site
contest list --home site
account log --home site -o log.csv
verify --home site
backup site.backup --home site
restore site.backup --home other
database --database sqlite:///site/arena.db
login http://127.0.0.1:9 --name x --token-stdin
status
submit up.zip --contest first
live check --challenge imagery --stream nothing-here --once
live board --id -1 --seconds 1
lab verify --log none.jsonl --file none.npz
session run plan.toml
env images
doctor
bench nothing-of-that-name
"""


def extras_of(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        told = next(name for name in names if name.endswith(".dist-info/METADATA"))
        assert "bciarena/handbook/zh/index.html" in names, f"{wheel}: no handbook in it; make wheel builds it"
        return Parser().parsestr(packed.read(told).decode()).get_all("Provides-Extra") or []


def run(*words: object, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": "", "OMP_NUM_THREADS": "1", "COLUMNS": "200", **more}
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        stdin=subprocess.DEVNULL,
    )


def try_all(python: Path, place: Path, whole: bool) -> list[str]:
    """What went wrong, in lines."""
    (place / "mine.py").write_text(ENTRY)
    (place / "plan.toml").write_text(PLAN)
    (place / "contest.toml").write_text(CONTEST)
    (place / "model.onnx").write_bytes(b"no model")
    wrong, wants = [], {}
    own = {
        "ARENA_HOME": str(place / "home"),
        "ARENA_CACHE": str(place / "cache"),
        "XDG_CONFIG_HOME": str(place / "config"),
    }
    for line in PROBES.strip().splitlines():
        done = run(python, "-m", "bciarena", *line.split(), cwd=place, **own)
        said = [
            text for text in done.stderr.strip().splitlines() if not text.startswith("|")
        ]  # "|": quoted from the box
        asked = re.search(r"pip install 'bciarena\[([\w-]+)\]'", done.stderr)
        if asked:
            wants.setdefault(asked[1], []).append(line.split()[0])
        elif "pip install" in done.stderr:
            wrong.append(f"arena {line}: asks for a package, not an extra: {said[-1]}")
        if done.returncode not in (0, 1, 2) or any("Traceback" in text for text in said):
            wrong.append(f"arena {line}: exit {done.returncode}: {' / '.join(said[-3:])}")
        elif done.returncode == 2 and asked and len([x for x in said if x.startswith("arena:")]) != 1:
            wrong.append(f"arena {line}: not one line: {' / '.join(said)}")
        elif whole and asked and asked[1] in ("decode", "files", "report", "jobs", "site", "lab"):
            wrong.append(f"arena {line}: wants {asked[1]}, which [all] should bring")
    print(
        "    wants:", "; ".join(f"{extra}: {' '.join(dict.fromkeys(verbs))}" for extra, verbs in wants.items()) or "-"
    )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", nargs="+", default=["3.11", "3.12", "3.13"])
    parser.add_argument("--extra", nargs="+")
    parser.add_argument("--lowest", action="store_true")
    asked = parser.parse_args()
    uv = shutil.which("uv") or Path(sys.executable).with_name("uv")  # beside this Python: where `make matrix` puts it
    if not Path(uv).exists():
        parser.error("uv is missing: pip install uv")
    wheel = asked.wheel.resolve()
    extras = asked.extra if asked.extra is not None else ["", *extras_of(wheel)]
    extras_of(wheel)
    bad = 0
    for version in asked.python:
        for extra in extras:
            began = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="arena-matrix-") as folder:
                home, place = Path(folder) / "env", Path(folder) / "work"
                place.mkdir()
                made = run(uv, "venv", "-q", "--python", version, home)
                how = ["--resolution", "lowest-direct"] if asked.lowest else ["-c", ROOT / "requirements.lock"]
                python, what = home / "bin" / "python", f"{wheel}[{extra}]" if extra else wheel
                done = made if made.returncode else run(uv, "pip", "install", "-q", "--python", python, *how, what)
                print(f"Python {version}, [{extra}]", flush=True)
                wrong = [done.stderr.strip()] if done.returncode else try_all(python, place, extra == "all")
            for line in wrong:
                print("    WRONG", line)
            bad += len(wrong)
            print(f"    {'ok' if not wrong else 'NOT ok'}, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
