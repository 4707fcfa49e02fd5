"""Finds the Pythons of this machine.

Searched, in this order: variables like ARENA_PYTHON_3_8, pyenv's versions, uv's, PATH, and the Python this platform
runs in.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bciarena.errors import BadInput
from bciarena.package import Package

OLDEST = (3, 8)
PYTHONS = tuple(f"3.{minor}" for minor in range(OLDEST[1], 15))
ASK = "import json,sys;print(json.dumps([list(sys.version_info[:3]),sys.base_prefix,sys.base_exec_prefix]))"


@dataclass(frozen=True)
class Found:
    """An installed Python: its version, where it is, and how it was found."""

    version: str
    full: str
    executable: Path
    prefixes: tuple[Path, ...]
    source: str

    @property
    def number(self) -> tuple[int, int]:
        major, minor = self.version.split(".")
        return int(major), int(minor)


def all_pythons() -> list[Found]:
    """One Python per version, the first one found; oldest version first."""
    best: dict[str, Found] = {}
    for path, source in _candidates():
        found = _ask(path, source)
        if found and found.number >= OLDEST:
            best.setdefault(found.version, found)
    return sorted(best.values(), key=lambda found: found.number)


def find_python(version: str) -> Found:
    """The Python of a version; BadInput says how to get it."""
    if tuple(int(part) for part in version.split(".")) < OLDEST:
        raise BadInput(f"Python {version} is too old for an entry; use 3.8 or later")
    for path, source in _candidates(version):
        found = _ask(path, source)
        if found and found.version == version:
            return found
    raise BadInput(
        f"Python {version} is not on this machine; install it (pyenv install {version}, or uv python install "
        f"{version}) or set ARENA_PYTHON_{version.replace('.', '_')}=/path/to/python"
    )


def base_for(package: Package, asked: str | None = None) -> tuple[Found, str]:
    """The Python to run or compile an entry with, and a warning where it is not the one that was named.

    ``asked`` must exist, and so must the one that compiled an entry; for any other the nearest will do.
    """
    wanted = asked or (None if package.python == "platform" else package.python)
    if wanted:
        return (find_python(wanted), "") if asked or package.exact else nearest_python(wanted)
    if package.dialect == "D" or not package.contest_python:
        return find_python(f"{sys.version_info[0]}.{sys.version_info[1]}"), ""
    return nearest_python(package.contest_python)


def nearest_python(version: str) -> tuple[Found, str]:
    """The Python of a version or, with a warning, the one closest to it, newer before older."""
    try:
        return find_python(version), ""
    except BadInput:
        minor = int(version.split(".")[1])
        choices = all_pythons()
        if not choices:
            raise
        best = min(choices, key=lambda found: (abs(found.number[1] - minor), found.number[1] < minor))
        return best, (
            f"Python {version} is not on this machine; the nearest is used: {best.version}; ranked runs may use "
            f"{version} (to have it here: pyenv install {version}, or uv python install {version})"
        )


def _candidates(version: str | None = None) -> Iterator[tuple[Path, str]]:
    """Executables that may be Pythons; with a version only those that may be of that version."""
    dotted = version or r"\d+\.\d+"
    for name in sorted(os.environ):
        match = re.fullmatch(r"ARENA_PYTHON_(\d+)_(\d+)", name)
        if match and version in (None, f"{match[1]}.{match[2]}"):
            yield Path(os.environ[name]).expanduser(), name
    roots = [os.environ.get("PYENV_ROOT", "~/.pyenv")]
    for folder in _newest_first(Path(roots[0]).expanduser() / "versions"):
        if re.match(rf"{dotted}(\.|$)", folder.name):
            yield folder / "bin" / "python", "pyenv"
    data = os.environ.get("XDG_DATA_HOME", "~/.local/share")
    for folder in _newest_first(Path(os.environ.get("UV_PYTHON_INSTALL_DIR", f"{data}/uv/python")).expanduser()):
        if re.match(rf"cpython-{dotted}\.", folder.name):
            yield folder / "bin" / "python3", "uv"
    wanted = re.compile(rf"python(3|{dotted})?")
    for place in os.environ.get("PATH", "").split(os.pathsep):
        folder = Path(place)
        if folder.name == "shims" or not place or not folder.is_dir():
            continue  # pyenv's shims start whatever version is currently set; its versions were searched already
        names = sorted(path.name for path in folder.iterdir() if wanted.fullmatch(path.name))
        for name in sorted(names, key=len, reverse=True):
            yield folder / name, "PATH"
    if version in (None, f"{sys.version_info[0]}.{sys.version_info[1]}"):
        yield Path(sys.executable), "this platform"


def _newest_first(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(
        folder.iterdir(), key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)], reverse=True
    )


def _ask(path: Path, source: str) -> Found | None:
    """Start it to see what it is; None if it does not start or is not Python 3."""
    if source.startswith("ARENA_PYTHON_") and not path.is_file():
        raise BadInput(f"{source} is set to {path}, which is not a file")
    found = _answer(path, os.path.getmtime(path)) if path.is_file() and os.access(path, os.X_OK) else None
    if found is None:
        return None
    full, prefixes = found
    version = ".".join(full.split(".")[:2])
    real = prefixes[0] / "bin" / f"python{version}"  # not an environment's link: nothing but the base is to be seen
    return Found(version, full, real if real.is_file() else path, prefixes, source)


@lru_cache(maxsize=256)
def _answer(path: Path, changed: float) -> tuple[str, tuple[Path, ...]] | None:
    try:
        done = subprocess.run([path, "-I", "-c", ASK], capture_output=True, timeout=20, check=True, text=True)
        numbers, *prefixes = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return ".".join(map(str, numbers)), tuple(dict.fromkeys(Path(prefix).resolve() for prefix in prefixes))
