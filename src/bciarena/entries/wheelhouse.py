"""Wheels for a machine without an index: from kept environments into a folder, and from there into a wheelhouse."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from bciarena.entries.index import wheelhouse
from bciarena.entries.room import RECORD
from bciarena.errors import BadInput
from bciarena.places import cache_folder
from bciarena.writing import wanted_folder, whole_file

LIST = "wheels.json"


def export_wheels(environments: list[Path], out: Path) -> list[str]:
    """Copy the wheels of some environments into the new folder ``out``."""
    if out.exists():
        raise BadInput(f"{out}: exists already; choose another name")
    wanted: dict[str, str] = {}
    for folder in environments:
        record = folder / RECORD
        if not record.is_file():
            raise BadInput("this entry runs in the platform's own Python, which has no wheels to export")
        wanted |= json.loads(record.read_text("utf-8"))["wheels"]
    lost = [name for name, digest in wanted.items() if not _kept(name, digest).is_file()]
    if lost:
        folders = ", ".join(str(folder) for folder in environments)
        raise BadInput(f"{lost[0]} is no longer kept; remove {folders} and export again")
    with wanted_folder(out) as beside:
        for name, digest in wanted.items():
            shutil.copyfile(_kept(name, digest), beside / name)
        (beside / LIST).write_text(json.dumps(wanted, indent=1) + "\n", "utf-8")
    return sorted(wanted)


def import_wheels(source: Path) -> list[str]:
    """Take the wheels of an exported folder, each by the digest it was exported with."""
    try:
        listed = json.loads((source / LIST).read_text("utf-8"))
        for name, digest in listed.items():
            parse_wheel_filename(name)
            with open(source / name, "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    raise BadInput(f"{source / name}: is not the file that was exported; copy it again")
    except (OSError, ValueError, AttributeError, InvalidWheelFilename) as error:
        raise BadInput(f"{source}: is not a folder of arena env export ({error})") from error
    for name in listed:
        with whole_file(wheelhouse() / name) as beside:
            shutil.copyfile(source / name, beside)
    return sorted(listed)


def _kept(name: str, digest: str) -> Path:
    return cache_folder() / "wheels" / digest / name
