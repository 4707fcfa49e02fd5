"""Which files of an upload are the entry's own, and where they go."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path, PurePosixPath

from bciarena.entries.archive import MAX_BYTES, MAX_FILES
from bciarena.entries.config import NAMES, YML_PLACES
from bciarena.errors import BadInput

OWN_FOLDERS = ("Algorithm", "AlgorithmImplement", "impl")
"""``impl`` alone is what the liveness text calls Algorithm/method/impl."""
OWN_FILES = (*NAMES, "AlgorithmConfig.yml", "config/AlgorithmConfig.yml", "train.py", "train.pyc")
JUNK = re.compile(r"__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|\._.*|\.git|\.idea|\.vscode|\.ipynb_checkpoints")
IGNORED = frozenset(
    {"main.py", "main.pyc", "Framework/", "Task/", "Challenge/", "README.md", "README_zh.md", "data/", "config/"}
)
"""Known parts of a companion package that are ours, or nobody's: left without a word."""
LISTS = re.compile(r"(?:requirements?|environment)[\w.-]{0,60}\.(?:txt|ya?ml)", re.I)
"""Names of files that list libraries."""
COMPILED = re.compile(r"(?P<stem>.+?)\.cpython-(?P<tag>\d+)(\.opt-\d)?\.pyc")
IMPL = Path("Algorithm/method/impl")


def contained(root: Path, named: str) -> Path | None:
    """The place below ``root`` that a stranger's text names; None where it leads out. Nothing is looked at."""
    parts = PurePosixPath(named.replace("\\", "/")).parts
    if not parts or len(named) > 300 or ".." in parts or parts[0].startswith("/") or not named.isprintable():
        return None
    if any(len(part.encode()) > 255 for part in parts):
        return None
    return root.joinpath(*parts)


def base_of(folder: Path, name: str) -> Path:
    """The folder that holds the entry: this one, or the only folder in it (archives often wrap everything in one)."""
    for base in (folder, *_only_folder(folder)):
        if any((base / own).is_dir() for own in OWN_FOLDERS) or any((base / own).is_file() for own in NAMES):
            return base
    raise BadInput(
        f"{name}: holds no entry: neither a folder Algorithm/ or AlgorithmImplement/ nor a config.toml that names "
        "its class"
    )


def _only_folder(folder: Path) -> list[Path]:
    inside = [path for path in folder.iterdir() if path.is_dir() and not JUNK.fullmatch(path.name)]
    return inside if len(inside) == 1 else []


def take(base: Path, root: Path) -> list[str]:
    """Copy the entry's own files into ``root``; gives the names that were left out."""
    copier = Copier(base, root)
    for own in OWN_FOLDERS:
        if (base / own).is_dir():
            copier.folder(base / own, root / (IMPL if own == "impl" else own))
    for own in OWN_FILES:
        if (base / own).is_file():
            copier.file(base / own, root / own)
    left = [
        item.name + "/" * item.is_dir()
        for item in base.iterdir()
        if item.name not in (*OWN_FOLDERS, *OWN_FILES) and not (JUNK.fullmatch(item.name) or LISTS.fullmatch(item.name))
    ]
    return [name for name in left if name != "__pycache__/"]


def take_lists(base: Path, above: Path, root: Path, named: str) -> None:
    """Lists of libraries beside the entry's folders or above them, and the one that its configuration names."""
    copier = Copier(above, root)
    place = contained(base, named)
    if place is not None and place.is_file() and not (root / named).exists():
        copier.file(place, root.joinpath(place.relative_to(base)))
    for folder in (base, *(parent for parent in base.parents if parent == above or parent.is_relative_to(above))):
        for item in sorted(folder.iterdir()):
            if LISTS.fullmatch(item.name) and item.is_file() and not (root / item.name).exists():
                copier.file(item, root / item.name)


class Copier:
    """Copies plain files under the same bounds as an archive's; a link may not leave the entry's folder."""

    def __init__(self, base: Path, root: Path) -> None:
        self.base = base.resolve()
        self.root = root
        self.files = self.bytes = 0

    def folder(self, source: Path, target: Path) -> None:
        target.mkdir(parents=True, exist_ok=True)
        self._inside(source)
        with os.scandir(source) as items:
            for item in sorted(items, key=lambda item: item.name):
                if JUNK.fullmatch(item.name):
                    continue
                if item.is_dir():
                    if item.is_symlink():
                        raise BadInput(f"{item.path}: is a link to a folder; put the folder itself there")
                    self.folder(Path(item.path), target / item.name)
                else:
                    self.file(Path(item.path), target / item.name)

    def file(self, source: Path, target: Path) -> None:
        self._inside(source)
        if not source.is_file():
            raise BadInput(f"{source}: is no plain file")
        self.files += 1
        self.bytes += source.stat().st_size
        if self.files > MAX_FILES or self.bytes > MAX_BYTES:
            raise BadInput(
                f"{self.base.name}: an entry may have {MAX_FILES} files and {MAX_BYTES >> 20} MiB; this one has more"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source, target)
        except OSError as error:
            raise BadInput(f"{source}: cannot be read ({error.strerror})") from error

    def _inside(self, source: Path) -> None:
        if not source.resolve().is_relative_to(self.base):
            raise BadInput(f"{source}: is a link that leaves the entry's folder; put the file itself there")


def settle_compiled(root: Path, python: str) -> None:
    """Give compiled files the names under which Python imports them without their source.

    ``__pycache__/X.cpython-38.pyc`` becomes ``X.pyc``; beside an ``X.py`` it is only a cache and is dropped.
    """
    wanted = python.replace(".", "")
    for path in sorted(root.rglob("*.pyc")):
        match = COMPILED.fullmatch(path.name)
        cached = path.parent.name == "__pycache__"
        if not match and not cached:
            continue
        home = path.parent.parent if cached else path.parent
        stem = match["stem"] if match else path.stem
        plain = home / f"{stem}.pyc"
        better = match is not None and match["tag"] == wanted
        if (home / f"{stem}.py").exists() or (plain.exists() and not better):
            path.unlink()
        else:
            path.replace(plain)
    for cache in sorted(root.rglob("__pycache__"), reverse=True):
        shutil.rmtree(cache)


def open_to_readers(root: Path) -> None:
    """Whatever the umask: the box may run under a user of its own."""
    for folder, _, files in os.walk(root):
        os.chmod(folder, 0o755)
        for name in files:
            os.chmod(os.path.join(folder, name), 0o644)


def show_both_ways(root: Path) -> None:
    """Lets ``AlgorithmImplement/`` be imported by every name it had in a contest.

    A contestant wrote it inside ``Algorithm/`` and packed it alone, so its own imports may say
    ``AlgorithmImplement.X``, ``Algorithm.AlgorithmImplement.X`` or ``Algorithm.X``: links serve all of them.
    """
    packed, whole = root / "AlgorithmImplement", root / "Algorithm"
    if packed.is_dir():
        whole.mkdir(exist_ok=True)
        _link(packed, whole / "AlgorithmImplement")
        for item in packed.iterdir():
            _link(item, whole / item.name)
    elif (whole / "AlgorithmImplement").is_dir():
        _link(whole / "AlgorithmImplement", packed)
    inside = root / YML_PLACES[0]
    outside = next((root / place for place in YML_PLACES[1:] if (root / place).is_file()), None)
    if outside is not None and not inside.exists():
        inside.parent.mkdir(parents=True, exist_ok=True)
        _link(outside, inside)


def _link(source: Path, place: Path) -> None:
    if not place.exists():
        place.symlink_to(os.path.relpath(source, place.parent))
