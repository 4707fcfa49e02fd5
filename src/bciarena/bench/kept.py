"""Kept rows: a long bench that was stopped continues where it was, and only what changed is played again."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bciarena
from bciarena.places import cache_folder
from bciarena.writing import whole_file

HOME = Path(bciarena.__file__).parent


class KeptRows:
    """Rows in the user's cache folder, each with a digest of the code that was measured.

    Parameters
    ----------
    fresh : bool
        Kept rows are not used.
    stale : bool
        A row is used even if its code has changed since; it then has ``stale`` set.
    """

    def __init__(self, fresh: bool = False, stale: bool = False) -> None:
        self.folder = cache_folder() / "bench"
        self.fresh, self.stale = fresh, stale

    def find(self, key: str, code: str) -> dict[str, Any] | None:
        path = self.folder / f"{key}.json"
        if self.fresh or not path.is_file():
            return None
        row = dict(json.loads(path.read_text("utf-8")))
        row["stale"] = row["code"] != code
        return row if self.stale or not row["stale"] else None

    def keep(self, key: str, code: str, row: dict[str, Any]) -> None:
        with whole_file(self.folder / f"{key}.json") as beside:
            beside.write_text(json.dumps(row | {"code": code}), "utf-8")


def key_of(*parts: str) -> str:
    """A name for what a row depends on."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


def code_digest(files: Iterable[Path]) -> str:
    """Digest of source files, of every decoder and generator they import, directly or not, and of data beside them."""
    found: dict[Path, bytes] = {}
    todo = sorted(files)
    while todo:
        path = todo.pop()
        if path in found or not path.is_file():
            continue
        found[path] = path.read_bytes()
        if path.suffix == ".py":
            tree = ast.parse(found[path])
            todo += _imported(tree) + _named(tree, path.parent)
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(path.name.encode() + b"\0" + found[path] + b"\0")
    return digest.hexdigest()


def _imported(tree: ast.Module) -> list[Path]:
    """Files of our own decoders, simulator and contests that a module imports; the platform does not count."""
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    places = [name.split(".")[1:] for name in names if name.startswith("bciarena.")]
    places = [p for p in places if p[0] in ("decoders", "simulator") or (p[0] == "contests" and len(p) > 2)]
    return [HOME.joinpath(*place).with_suffix(".py") for place in places]


def _named(tree: ast.Module, folder: Path) -> list[Path]:
    """Files beside a module that it names in a string: fitted parameters kept with the code."""
    words = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [folder / word for word in words if word.endswith((".json", ".npz")) and "/" not in word]


def data_digest(folder: Path | None) -> str:
    """Names and sizes of a data folder's files: enough to notice another set."""
    if folder is None:
        return ""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashlib.sha256(
        "\n".join(f"{path.relative_to(folder)} {path.stat().st_size}" for path in files).encode()
    ).hexdigest()
