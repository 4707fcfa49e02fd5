"""Rooms import only from the rooms below them, and what goes into a box imports nothing of ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src" / "bciarena"
LOW = {"bars", "errors", "lazy", "places", "plaintext", "verdicts", "writing"}
MAY = {
    "recording": LOW,
    "protocol": LOW | {"contests", "recording"},
    "simulator": LOW | {"contests", "recording", "protocol"},
    "stream": LOW | {"contests", "recording"},
    "wire": set(),
    "contestant": {"wire"},
    "referee": LOW | {"contests", "stream", "recording", "wire"},
    "decoders": LOW | {"contests", "recording", "simulator"},
    "runs": LOW | {"contests", "recording", "referee", "stream", "match", "summary"},
    "report": LOW | {"contests", "referee", "recording", "runs"},
    "importing": LOW | {"contests", "recording"},
}


def imports(path: Path) -> set[str]:
    """Rooms of ours that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("bciarena.")}
    return found


@pytest.mark.parametrize("room", MAY)
def test_imports_go_downwards(room):
    for path in (SRC / room).rglob("*.py"):
        wrong = imports(path) - MAY[room] - {room}
        assert not wrong, f"{path.relative_to(SRC)} imports {', '.join(sorted(wrong))}"


def test_only_the_match_joins_stream_and_referee_with_a_player():
    for room in ("stream", "referee"):
        for path in (SRC / room).rglob("*.py"):
            assert not imports(path) & {"sandbox", "match", "runs"}
