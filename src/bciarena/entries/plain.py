"""Dialect D: which files belong to ``module.py:Class``.

Taken are the module itself, the modules and packages beside it that it imports (and those that they import), and the
files beside it that their code names in a string: ``np.load(here / "weights.npz")`` brings weights.npz along.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from bciarena.entries.layout import IGNORED, OWN_FOLDERS, SUBMISSION, Copier, contained
from bciarena.entries.sources import read_source


def take(source: Path, root: Path) -> list[str]:
    """Copy a module and what it needs into ``root``; returns the names of what was added."""
    copier = Copier(source.parent, root)
    return _follow(source, source.parent, root, copier)


def take_named(base: Path, root: Path, named: str) -> None:
    """For an entry whose configuration names a class outside ``Algorithm/``: take its module, or its folder."""
    text = named.replace("\\", "/").rpartition(":")[0]
    if "/" not in text and not text.endswith((".py", ".pyc")):
        text = text.replace(".", "/")
    file = PurePosixPath(text)
    if contained(base, str(file)) is None:
        return
    first = file.parts[0] if file.parts else ""
    if len(file.parts) > 1:
        if first not in (*OWN_FOLDERS, *(name.rstrip("/") for name in IGNORED), "..") and (base / first).is_dir():
            Copier(base, root).folder(base / first, root / first)
        return
    for ending in ("", ".py", ".pyc"):
        source = base / f"{first.removesuffix('.py') if ending == '.pyc' else first}{ending}"
        if source.suffix in (".py", ".pyc") and source.is_file():
            # Compiled, it does not show what it imports; a submission reads its weights by any name: all comes along.
            if source.suffix == ".pyc" or source.name == SUBMISSION:
                Copier(base, root).folder(base, root)
            else:
                _follow(source, base, root, Copier(base, root))
            return


def _follow(source: Path, base: Path, root: Path, copier: Copier) -> list[str]:
    waiting, done, taken = [source], set[Path](), list[str]()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        copier.file(path, root / path.relative_to(base))
        if path != source:
            taken.append(path.relative_to(base).as_posix())
        if path.suffix != ".py":
            continue
        scanned = read_source(path)
        for name in sorted(name for name in scanned.imports if name.isidentifier()):
            for ending in (".py", ".pyc"):
                if (path.parent / f"{name}{ending}").is_file():
                    waiting.append(path.parent / f"{name}{ending}")
                    break
            package = path.parent / name
            if package.is_dir() and any(package.glob("*.py*")):
                waiting += [file for file in sorted(package.rglob("*")) if file.is_file() and _wanted(file)]
        for text in sorted(scanned.texts):
            beside = contained(path.parent, text)
            if beside and beside.is_file():
                waiting.append(beside)
    return sorted(taken)


def _wanted(path: Path) -> bool:
    return "__pycache__" not in path.parts
