"""The engine of a companion package: our own modules, adapted so that older Pythons can read them.

Copied are `bciarena.rehearsal`, the contest's rules and score, the objects of its dialect, and whatever of ours these
import. The code that plays, judges and scores in a contestant's own Python is therefore the server's.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import bciarena
from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook

OURS = Path(bciarena.__file__).parent
PLACE = "Framework.engine"
"""Where the modules are in a companion package."""
OLDER = (("from collections.abc import", "from typing import"), (", strict=True)", ")"))
"""What Python 3.8 spells differently; otherwise these modules use only what 3.8 knows, as a test checks."""
PLAYERS = {"A": "dialect_sync", "B": "dialect_sync", "C": "dialect_async"}
CONTESTS = '''"""The rules of this challenge."""

from importlib import import_module


def rulebook(name):
    module = import_module("{place}.contests.{folder}.rules")
    books = list(getattr(module, "RULEBOOKS", None) or [module.RULEBOOK])
    return next(book for book in books if book.id == name)
'''


def write_engine(folder: Path, rulebook: Rulebook) -> None:
    """Write the engine of a challenge into the package ``folder``."""
    own = contest(rulebook).folder
    name = f"contests/{rulebook.name}"
    stubs = {"__init__.py": "", "contests/__init__.py": CONTESTS.format(place=PLACE, folder=rulebook.name)}
    waiting = {
        "rehearsal.py": OURS / "rehearsal.py",
        "contestant/loading.py": OURS / "contestant" / "loading.py",
        f"contestant/{PLAYERS[rulebook.dialect]}.py": OURS / "contestant" / f"{PLAYERS[rulebook.dialect]}.py",
        f"{name}/__init__.py": own / "__init__.py",
        f"{name}/rules.py": own / "rules.py",
    }
    written: dict[str, str] = {}
    while waiting:
        place, source = waiting.popitem()
        text = source.read_text("utf-8") if source.is_file() else ""
        written[place] = _rewritten(text)
        for wanted, where in _imports(text, place, source).items():
            if wanted not in written and wanted not in stubs:
                waiting[wanted] = where
    root = folder.joinpath(*PLACE.split("."))
    for place, text in {**written, **stubs}.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text, "utf-8")


def _rewritten(text: str) -> str:
    for newer, older in OLDER:
        text = text.replace(newer, older)
    return re.sub(r"^(\s*(?:from|import) )bciarena\b", rf"\g<1>{PLACE}", text, flags=re.M)


def _imports(text: str, place: str, source: Path) -> dict[str, Path]:
    """Our modules that a module needs to run, each with its place in the engine and its file."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found: dict[str, Path] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            home, package = source.parents[node.level - 1], Path(place).parents[node.level - 1]
            parts = (node.module or "").split(".") if node.module else []
        elif (node.module or "").split(".")[0] == "bciarena":
            home, package, parts = OURS, Path(), (node.module or "").split(".")[1:]
        else:
            continue
        for depth in range(len(parts) + 1):
            where, inside = home.joinpath(*parts[:depth]), package.joinpath(*parts[:depth])
            if where.is_dir():
                found[(inside / "__init__.py").as_posix()] = where / "__init__.py"
        base, inside = home.joinpath(*parts), package.joinpath(*parts)
        modules = [(base.with_suffix(".py"), inside.with_suffix(".py"))] if parts else []
        modules += [(base / f"{alias.name}.py", inside / f"{alias.name}.py") for alias in node.names]
        found.update({to.as_posix(): file for file, to in modules if file.is_file()})
    return found
