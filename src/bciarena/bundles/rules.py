"""The rules of a bundle: as a table that people read, and as the code that scores."""

from __future__ import annotations

import ast
import json
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

from bciarena.contests import contest
from bciarena.contests.contest import Contest, load
from bciarena.contests.registry import RULEBOOKS
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput

CODE, TABLE = "rules", "rulebook.json"


def write_rules(book: Rulebook, folder: Path) -> None:
    """Write every rule with its clause, and the files that make the score."""
    values = {one.name: getattr(book, one.name) for one in fields(book) if one.name not in ("scoring", "clauses")}
    table = {
        "id": book.id,
        "digest": book.digest,
        "rules": {
            name: {"value": _plain(value), "clause": book.clauses.get(name, "")} for name, value in values.items()
        },
    }
    (folder / TABLE).write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", "utf-8")
    found = contest(book)
    (folder / CODE).mkdir()
    for path in score_files(found):
        shutil.copyfile(path, folder / CODE / path.name)


def score_files(found: Contest) -> list[Path]:
    """rules.py, and the files beside it that it imports, directly or not."""
    waiting, taken = ["rules"], dict[str, Path]()
    while waiting:
        name = waiting.pop()
        path = found.folder / f"{name}.py"
        if name in taken or not path.is_file():
            continue
        taken[name] = path
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                module = node.module or ""
                if node.level == 1:
                    waiting += [module.split(".")[0]] if module else [alias.name for alias in node.names]
                elif module == found.package:
                    waiting += [alias.name for alias in node.names]
                elif module.startswith(f"{found.package}."):
                    waiting.append(module.removeprefix(f"{found.package}.").split(".")[0])
    return [taken[name] for name in sorted(taken)]


def known_rules(challenge: str, digest: str) -> Rulebook | None:
    """This installation's rulebook under which a ledger was written; None where it has none, or another reading."""
    book = RULEBOOKS.get(challenge)
    return book if book is not None and digest in {book.digest, *book.formerly} else None


def bundled_rules(folder: Path, challenge: str, digest: str) -> Rulebook:
    """The rulebook that the bundle's own code makes. This runs that code: only for a bundle that is trusted."""
    book = next((one for one in load(folder / CODE).rulebooks if one.id == challenge), None)
    if book is None or digest not in {book.digest, *book.formerly}:
        raise BadInput(f"{CODE}/: its code makes other rules than the ledger was written under ({challenge})")
    return book


def differing(folder: Path, book: Rulebook) -> list[str]:
    """Files of the score whose text is another one here than in the bundle."""
    ours = {path.name: path.read_bytes() for path in score_files(contest(book))}
    theirs = {path.name: path.read_bytes() for path in sorted((folder / CODE).glob("*.py"))}
    return sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)
