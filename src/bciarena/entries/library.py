"""What a reference entry uses of this package, copied into its folder, since a box does not show the platform itself.

The modules are found by reading import statements, starting from the entry's own files; a data file is copied if a
module beside it names it.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import bciarena

NAME = "bciarena"
HOME = Path(bciarena.__file__).resolve().parent


def add_used(root: Path) -> list[str]:
    """Copy what the entry in ``root`` imports of this package, directly or not; returns the modules' names."""
    waiting = sorted({name for path in root.rglob("*.py") for name in _imported(path, "")})
    taken: dict[str, Path] = {}
    while waiting:
        name = waiting.pop()
        source = _file_of(name)
        if source is None or name in taken:
            continue
        taken[name] = source
        if name == NAME:
            continue  # its __init__ offers the whole platform: the copy has an empty one
        waiting += [NAME, *_above(name), *_imported(source, name)]
    for name, source in taken.items():
        target = root / NAME / source.relative_to(HOME)
        target.parent.mkdir(parents=True, exist_ok=True)
        if name == NAME:
            target.write_text("")
            continue
        shutil.copyfile(source, target)
        for beside in _named_files(source):
            shutil.copyfile(beside, target.parent / beside.name)
    return sorted(taken)


def needs(root: Path) -> set[str]:
    """Modules from elsewhere that the entry in ``root`` imports as soon as it is loaded, itself or through ours."""
    waiting = [(path, "") for path in root.rglob("*.py") if root / NAME not in path.parents]
    seen: set[Path] = set()
    found: set[str] = set()
    while waiting:
        path, module = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        top = ast.parse(path.read_text("utf-8")).body
        for node in top:
            if isinstance(node, ast.Import):
                found |= {item.name.split(".")[0] for item in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
        for name in _imported(path, module, top):
            waiting += [(source, one) for one in (*_above(name), name) if (source := _file_of(one)) and one != NAME]
    return found


def _file_of(name: str) -> Path | None:
    place = HOME.joinpath(*name.split(".")[1:])
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.is_file() and HOME in (path.parent, *path.parents):
            return path
    return None


def _above(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(2, len(parts))]


def _imported(path: Path, module: str, nodes: Iterable[ast.AST] | None = None) -> Iterator[str]:
    """Names below this package that a file imports anywhere, or in ``nodes``; of ``from a import b`` both a and a.b."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))) if nodes is None else nodes:
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names if item.name.split(".")[0] == NAME)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            whole = ".".join([*filter(None, base), *filter(None, [node.module])])
            if whole.split(".")[0] == NAME:
                yield whole
                yield from (f"{whole}.{item.name}" for item in node.names)


def _named_files(source: Path) -> list[Path]:
    """Files beside a module that it names in a string."""
    tree = ast.parse(source.read_text("utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return [path for path in source.parent.iterdir() if path.is_file() and path.suffix != ".py" and path.name in texts]
