"""Which lines the tests run: a table by room, and the files below a share, from coverage's data.

    python scripts/covered.py [--below 70]

`make coverage` measures and then calls this.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

PACKAGE = "bciarena/"


def counts() -> dict[str, tuple[int, int]]:
    """Lines run and lines there, by the file's path in the package."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "coverage.json"
        # -i: some tests run copies of the package in folders that are gone by now
        subprocess.run([sys.executable, "-m", "coverage", "json", "-i", "-q", "-o", out], check=True)
        files = json.loads(out.read_text("utf-8"))["files"]
    found = {}
    for path, told in files.items():
        whole = told["summary"]["num_statements"]
        if whole:
            found[path.rsplit(PACKAGE, 1)[-1]] = (told["summary"]["covered_lines"], whole)
    return found


def share(run: int, whole: int) -> float:
    return 100 * run / whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--below", type=float, default=70.0)
    below = parser.parse_args().below
    found = counts()
    rooms: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for path, pair in found.items():
        rooms[path.split("/")[0] if "/" in path else "(files)"].append(pair)
    print(f"{'room':<14} {'lines':>6} {'run':>6}")
    for room, pairs in [*sorted(rooms.items()), ("all", list(found.values()))]:
        run, whole = map(sum, zip(*pairs, strict=True))
        print(f"{room:<14} {whole:>6} {share(run, whole):>5.0f} %")
    low = sorted((share(*pair), path) for path, pair in found.items() if share(*pair) < below)
    print(f"\n{len(low)} of {len(found)} files below {below:g} %:")
    for part, path in low:
        print(f"{part:>5.0f} %  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
