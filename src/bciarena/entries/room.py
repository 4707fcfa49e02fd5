"""How much room environments may take together: those that nobody has used for longest make way for new ones."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

from bciarena.errors import Fault
from bciarena.writing import whole_file

RECORD = "environment.json"
MOST_MIB = 100 << 10
SHARE = 0.5  # of the disk, where that is less
RESTING_S = 6 * 3600.0  # one that was used since then may be in use


def mark_used(environment: Path) -> None:
    """Remember when; beside the environment, because boxes see the environment itself."""
    _mark(environment).touch()


def size_mib(folder: Path) -> int:
    """What a folder takes on the disk."""
    total = sum(
        os.lstat(os.path.join(place, name)).st_blocks * 512 for place, _, names in os.walk(folder) for name in names
    )
    return total >> 20


def make_room(place: Path) -> list[Path]:
    """Remove environments until a new one may be made; returns those removed, or a fault if too many are in use."""
    kept = {record.parent: _mib(record) for record in place.glob(f"*/{RECORD}")}
    most = min(MOST_MIB, int(shutil.disk_usage(place).total * SHARE) >> 20)
    removed: list[Path] = []
    for environment in sorted(kept, key=_used_s):
        if sum(kept.values()) < most or time.time() - _used_s(environment) < RESTING_S:
            break
        away = environment.with_name(f".{environment.name}.old")  # gone at once for whoever looks for it
        environment.rename(away)
        shutil.rmtree(away, ignore_errors=True)
        del kept[environment]
        removed.append(environment)
    if sum(kept.values()) >= most:
        raise Fault(
            f"{place}: environments of entries take {sum(kept.values()) >> 10} GiB, {most >> 10} are allowed, and all "
            f"were used within {RESTING_S / 3600:.0f} h; remove some by hand, or try later"
        )
    return removed


def _mark(environment: Path) -> Path:
    return environment.with_name(f"{environment.name}.lock")


def _used_s(environment: Path) -> float:
    mark = _mark(environment)
    return mark.stat().st_mtime if mark.exists() else 0.0


def _mib(record: Path) -> int:
    about = json.loads(record.read_text("utf-8"))
    if not isinstance(about.get("mib"), int):  # measured once: an environment does not change
        about["mib"] = size_mib(record.parent)
        with whole_file(record) as path:
            path.write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    return int(about["mib"])
