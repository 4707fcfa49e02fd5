"""Reads an entry's requirements.txt. It comes from a stranger and is installed outside the box, so it may only name
packages: no URLs, no paths, no options, nothing that makes pip run or fetch what the index does not hold as a wheel.
"""

from __future__ import annotations

import re
from pathlib import Path

from bciarena.errors import EntryFailed

MAX_LINES = 200
LINE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[A-Za-z0-9._,\s-]*\])?"
    r"\s*\(?(?P<version>((===?|~=|!=|[<>]=?)\s*[A-Za-z0-9.*+!_-]+\s*,?\s*)*)\)?\s*(?P<marker>;[^\\/:@]*)?"
)


def read_requirements(path: Path) -> list[str]:
    """Its lines, without comments; EntryFailed for a line that is more than a package with a version."""
    lines = []
    for number, raw in enumerate(_lines(path), 1):
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        if not line:
            continue
        if not LINE.fullmatch(line):
            raise EntryFailed(
                "import_error",
                f"{path.name}, line {number}: {line[:60]!r} is not a package with a version; options, URLs and paths "
                "are not taken",
            )
        lines.append(line)
        if len(lines) > MAX_LINES:
            raise EntryFailed("import_error", f"{path.name}: asks for more than {MAX_LINES} packages")
    return lines


def asks_for_anything(path: Path) -> bool:
    """Whether there is such a file with anything but comments in it."""
    return path.is_file() and any(re.sub(r"(^|\s)#.*", "", line).strip() for line in _lines(path))


def names(lines: list[str]) -> set[str]:
    """The packages asked for, in pip's spelling."""
    found = (LINE.fullmatch(line) for line in lines)
    return {re.sub(r"[-_.]+", "-", match["name"]).lower() for match in found if match}


def _lines(path: Path) -> list[str]:
    if path.stat().st_size > 1 << 18:
        raise EntryFailed("import_error", f"{path.name}: is too long for a list of packages")
    return path.read_bytes().decode("utf-8-sig", "replace").replace("\x00", "").splitlines()
