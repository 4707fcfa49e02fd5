"""Rooms import only from the rooms below them, and what goes into a box imports nothing of ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bciarena.contests import CONTESTS

SRC = Path(__file__).resolve().parents[1] / "src" / "bciarena"
LOW = {
    "errors",
    "verdicts",
    "plaintext",
    "processes",
    "writing",
    "places",
    "bars",
    "lazy",
    "words",
    "clocks",
    "ports",
    "scratch",
}
"""Single files that know nothing but each other."""
ENGINE = LOW | {"recording", "contests", "stream", "referee", "match", "wire"}
MAY = {
    **dict.fromkeys(sorted(LOW), LOW),
    "recording": LOW,
    "contests": LOW | {"recording"},
    "protocol": LOW | {"contests", "recording"},
    "simulator": LOW | {"contests", "recording", "protocol", "decoders"},
    "stream": LOW | {"contests", "recording"},
    "wire": set(),
    "contestant": {"wire"},
    "referee": LOW | {"contests", "stream", "recording", "wire"},
    "match": ENGINE | {"runs"},  # the run folder's type alone
    "summary": LOW | {"contests"},
    "runs": ENGINE | {"summary"},
    "inprocess": ENGINE | {"runs", "contestant", "summary", "simulator"},
    "rehearsal": ENGINE | {"summary"},
    "package": LOW,
    "sandbox": ENGINE | {"runs", "package", "contestant"},
    "entries": ENGINE | {"runs", "package", "contestant", "sandbox", "protocol", "simulator", "summary"},
    "bundles": ENGINE | {"runs", "entries", "package"},
    "decoders": LOW,
    "moabb": ENGINE | {"inprocess", "runs"},
    "wrapping": ENGINE | {"decoders", "entries", "sandbox"},
    "importing": LOW | {"contests", "recording"},
    "release": LOW | {"contests", "recording", "importing", "protocol"},
    "audit": LOW | {"contests", "recording", "release"},
    "report": LOW | {"contests", "referee", "recording", "runs", "summary"},
    "database": LOW | {"jobs"},  # a migration's environment names the tables
    "jobs": ENGINE | {"database", "entries", "package", "runs", "sandbox", "summary"},
    "service": ENGINE
    | {
        "summary",
        "database",
        "jobs",
        "report",
        "runs",
        "entries",
        "package",
        "sandbox",
        "protocol",
        "simulator",
        "contestant",
        "audit",
        "release",
    },
    "upkeep": LOW | {"database", "jobs", "runs", "service"},
    "lab": LOW | {"contests", "protocol"},
    "session": ENGINE | {"protocol", "entries", "runs", "lab", "live"},
    "live": ENGINE | {"importing", "protocol", "simulator", "entries", "runs", "sandbox", "package"},
}
PARTS = {
    "rules": {"contests", "recording"},
    "score": {"contests"},
    "protocol": {"protocol"},
    "brain": {"contests", "protocol", "simulator"},
    "report": {"contests", "report"},
    "example": {"entries"},
    "importing": {"contests", "importing"},
    "release": {"contests", "recording", "importing", "protocol", "release"},
    "audit": {"contests", "audit"},
    "bench": {"bench", "recording"},
    "reference": {"decoders", "recording", "protocol", "simulator"},
    "baseline": {"decoders", "recording"},
    "starter": set(),
}
"""What the parts of a contest's folder may import besides its own; other files of it: decoders."""
TOP = {"bench", "cli", "demo", "doctor", "contest_folders", "starter", "__init__", "__main__"}
"""Above everything, or outside: what they import is not restricted."""


def room_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Rooms of ours that a file imports; of a contest's own folder nothing is said."""
    found = set()
    own = next((name for name in CONTESTS if SRC / "contests" / name in path.parents), None)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("bciarena.") and not (own and name.startswith(f"bciarena.contests.{own}")):
                found.add(name.split(".")[1])
    return found


def test_every_room_has_its_place():
    rooms = {room_of(path) for path in SRC.rglob("*.py")}
    assert rooms == set(MAY) | TOP


@pytest.mark.parametrize("room", MAY)
def test_imports_go_downwards(room):
    inside = [path for path in SRC.rglob("*.py") if room_of(path) == room]
    for path in inside:
        if any(SRC / "contests" / name in path.parents for name in CONTESTS):
            continue
        wrong = imports(path) - MAY[room] - {room, "__version__"}
        assert not wrong, f"{path.relative_to(SRC)} imports {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("name", CONTESTS)
def test_a_contests_part_imports_the_room_it_speaks_to(name):
    folder = CONTESTS[name].folder
    for path in folder.rglob("*.py"):
        part = path.relative_to(folder).parts[0].removesuffix(".py")
        wrong = imports(path) - LOW - PARTS.get(part, {"contests", "decoders", "recording"})
        assert not wrong, f"{path.relative_to(SRC)} imports {', '.join(sorted(wrong))}"


def test_only_the_match_joins_stream_and_referee_with_a_player():
    for room in ("stream", "referee"):
        for path in (SRC / room).rglob("*.py"):
            assert not imports(path) & {"sandbox", "match", "runs"}
