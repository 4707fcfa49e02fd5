"""What is true of one contest only stands in its folder: nothing outside names a contest or one of its codes."""

import ast
import re
from pathlib import Path

import pytest

from bciarena.contests import CONTESTS, HERE

SRC = HERE.parent
COMMON = {"imagery"}
"""Also an ordinary word: as such it may stand in a sentence."""
NAMES = re.compile(
    rf"(?<![\w-])@?(?:{'|'.join(CONTESTS)})(?:/\d+|-baseline)|^@?(?:{'|'.join(CONTESTS)})$"
    rf"|(?<![\w-])(?:{'|'.join(set(CONTESTS) - COMMON)})(?![\w-])"
)
CODES = {201, 202, 203, 249}
"""Codes that only one contest has, and that are no other number of ours outside the site and the box."""
ELSEWHERE = ("service", "sandbox")  # HTTP's status codes, system calls
OUTSIDE = [
    path
    for path in sorted(SRC.rglob("*"))
    if path.suffix in {".py", ".js", ".html", ".toml", ".yml", ".css", ".json"}
    and not any((HERE / name) in path.parents for name in CONTESTS)
    and not {"__pycache__", "handbook"} & set(path.parts)  # the handbook: built from docs/, not of the sources
]


def said_in(path: Path) -> list[str]:
    """Every text and code number of a file, but for comments and documentation."""
    if path.suffix != ".py":
        text = path.read_text("utf-8")
        text = re.sub(r"/\*.*?\*/|//[^\n]*|<!--.*?-->|(?m:^\s*#[^\n]*)", "", text, flags=re.S)
        return [found[0] for found in NAMES.finditer(text)]
    tree = ast.parse(path.read_text("utf-8"))
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in documented:
            if isinstance(node.value, str):
                found += [match[0] for match in NAMES.finditer(node.value)]
            elif type(node.value) is int and node.value in CODES and not set(ELSEWHERE) & set(path.parts):
                found.append(f"code {node.value}")
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            found += [name] if name.lower() in CONTESTS else []
        elif isinstance(node, ast.ImportFrom):
            words = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            found += [word for word in words if word in CONTESTS]
    return found


@pytest.mark.parametrize("room", sorted({path.relative_to(SRC).parts[0] for path in OUTSIDE}))
def test_nothing_outside_a_contests_folder_names_it(room):
    wrong = {str(path.relative_to(SRC)): said_in(path) for path in OUTSIDE if path.relative_to(SRC).parts[0] == room}
    assert not {path: said for path, said in wrong.items() if said}


def test_the_test_can_fail(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text('"""imagery"""\nif book.name == "imagery" or code == 201 or x.speller: pass\n')
    assert sorted(said_in(bad)) == ["code 201", "imagery", "speller"]
