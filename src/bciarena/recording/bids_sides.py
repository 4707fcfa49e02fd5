"""The tables and descriptions beside a BIDS recording: what columns and codes mean, and where electrodes are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from bciarena.recording.montages import NOT_SCALP
from bciarena.writing import whole_file

BIDS, HED = "1.10.0", "8.3.0"
"""Versions of the two standards."""
TEMPLATE = (
    "Places of the 10-05 system on a template head, not measured on this person: x to the right ear, y to the nose, "
    "z up; the origin is midway between the ears."
)
COLUMNS = {
    "onset": "Seconds from the first sample of the recording.",
    "duration": "0: a code marks one sample.",
    "trial_type": "What the code means.",
    "value": "The trigger's code.",
    "sample": "The code's sample, from 0; n/a where no sample was recorded for it.",
    "valid": "On the code that opens a trial: whether the trial may be used.",
    "reason": "Why a trial must not be used.",
}


def events_side(codes: Iterable[int], meanings: Mapping[int, tuple[str, str]], marked: bool) -> dict[str, Any]:
    """The content of ``events.json``; only codes that occur are described."""
    side: dict[str, Any] = {name: {"Description": text} for name, text in COLUMNS.items()}
    if not marked:
        del side["valid"], side["reason"]
    else:
        side["valid"]["Levels"] = {"true": "it may be used", "false": "it must not be used"}
    known = {code: meanings[code] for code in sorted(set(codes)) if code in meanings}
    if known:
        side["value"]["Levels"] = {str(code): name for code, (name, _) in known.items()}
        side["value"]["HED"] = {str(code): tags for code, (_, tags) in known.items()}
    return side


@lru_cache(maxsize=1)
def positions() -> dict[str, list[float]]:
    """Electrodes of the 10-05 system and the landmarks NAS, LPA, RPA on a template head, metres."""
    text = Path(__file__).with_name("positions.json").read_text("utf-8")
    found: dict[str, list[float]] = json.loads(text)
    return found


def write_places(place: Path, subject: str, channels: tuple[str, ...]) -> None:
    """``electrodes.tsv`` and ``coordsystem.json`` of a subject; nothing if it has no known electrode."""
    known = {name.casefold(): where for name, where in positions().items()}
    rows = [(name, known[name.casefold()]) for name in channels if name.casefold() in known and name not in NOT_SCALP]
    if not rows:
        return
    stem = f"sub-{subject}_space-CapTrak"
    table = "\n".join(["name\tx\ty\tz", *("\t".join([name, *map(str, where)]) for name, where in rows)]) + "\n"
    marks = {name: positions()[name] for name in ("NAS", "LPA", "RPA")}
    system = {
        "EEGCoordinateSystem": "CapTrak",
        "EEGCoordinateUnits": "m",
        "EEGCoordinateSystemDescription": TEMPLATE,
        "AnatomicalLandmarkCoordinates": marks,
        "AnatomicalLandmarkCoordinateSystem": "CapTrak",
        "AnatomicalLandmarkCoordinateUnits": "m",
    }
    texts = {f"{stem}_electrodes.tsv": table, f"{stem}_coordsystem.json": json.dumps(system, indent=2) + "\n"}
    for name, text in texts.items():
        with whole_file(place / name) as path:
            path.write_text(text, encoding="utf-8")
