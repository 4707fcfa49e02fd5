"""Which files of an upload are the entry's own, and where they go."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path, PurePosixPath

from bciarena.contests.rulebook import Rulebook
from bciarena.entries.archive import MAX_BYTES, MAX_FILES
from bciarena.entries.config import NAMES, YML_PLACES
from bciarena.entries.sources import read_source
from bciarena.entries.telling import tell
from bciarena.errors import BadInput

OWN_FOLDERS = ("Algorithm", "AlgorithmImplement", "AlgorithmSystem", "impl")
"""``impl`` alone is what the liveness text calls Algorithm/method/impl."""
OWN_FILES = (*NAMES, "AlgorithmConfig.yml", "config/AlgorithmConfig.yml", "train.py", "train.pyc")
ONLINE = "AlgorithmSystem/AlgorithmImplement"
"""Of the 2022 online form this part is the contestant's; what lies beside it talks to the organiser's hardware."""
SPELLED = {
    name.casefold(): name
    for name in (
        *OWN_FOLDERS,
        *OWN_FILES,
        ONLINE,
        *(f"Algorithm/{name}" for name in ("AlgorithmImplement", "config", "config/AlgorithmConfig.yml", "impl")),
        *(f"Algorithm/method{name}" for name in ("", "/impl", "/interface", "/model")),
    )
}
"""How the contests spell their folders: a zip made on Windows may have them in any case."""
INTERFACES = {
    name.casefold(): name
    for root in ("Algorithm", "AlgorithmImplement", ONLINE)
    for name in (f"{root}/Interface", f"{root}/Interface/Model")
}
"""These were spelled with small letters in some years: corrected only where the folder above was corrected, too."""
DEPTH, MOST_FOLDERS = 5, 2000  # how far an upload is searched for the folder that holds the entry
JUNK = re.compile(r"__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|\._.*|\.git|\.idea|\.vscode|\.ipynb_checkpoints")
IGNORED = frozenset(
    {"main.py", "main.pyc", "Framework/", "Task/", "Challenge/", "README.md", "README_zh.md", "data/", "config/"}
)
"""Known parts of a companion package that are ours or nobody's: left out without a note."""
LISTS = re.compile(r"(?:requirements?|environment)[\w.-]{0,60}\.(?:txt|ya?ml)", re.I)
"""Names of files that list libraries."""
COMPILED = re.compile(r"(?P<stem>.+?)\.cpython-(?P<tag>\d+)(\.opt-\d)?\.pyc")
IMPL = Path("Algorithm/method/impl")
SUBMISSION = "submission.py"
"""How streamed competitions name the file with the class; what lies beside it belongs to it."""


def contained(root: Path, named: str) -> Path | None:
    """The place below ``root`` that a stranger's text names; None where it leads out. The disk is not read."""
    parts = PurePosixPath(named.replace("\\", "/")).parts
    if not parts or len(named) > 300 or ".." in parts or parts[0].startswith("/") or not named.isprintable():
        return None
    if any(len(part.encode()) > 255 for part in parts):
        return None
    return root.joinpath(*parts)


def base_of(folder: Path, name: str, rulebook: Rulebook, named: str = "") -> tuple[Path, str]:
    """The folder that holds the entry, and ``named`` relative to it.

    It is this one, or one below it (archives often wrap everything in folders). Of several candidates it
    is the one with what was named, else with the class's file where the contest looks for it, else the outermost.
    """
    bases = [base for base in _folders(folder) if _holds_own(base)]
    if named:
        file, _, own = named.replace("\\", "/").rpartition(":")
        for base in dict.fromkeys([*bases, folder]):
            if found := _file_named(base, file):
                home = next((one for one in reversed(bases) if one != found.parent and found.is_relative_to(one)), base)
                return home, f"{found.relative_to(home).as_posix()}:{own}"
    if not bases:
        loose = [
            (base, f"{file}:{name}")
            for base in _folders(folder)
            for name in rulebook.classes
            for file in (f"{name}.py", SUBMISSION)
            if (base / file).is_file() and (file != SUBMISSION or name in read_source(base / file).classes)
        ]
        if loose and len({base for base, _ in loose if len(base.parts) == len(loose[0][0].parts)}) == 1:
            return loose[0]  # the class's file lies there without any folder
        raise BadInput(tell("entry.none", name=name))
    sure = [base for base in bases if _holds_class(base, rulebook.classes)] or bases
    same = [base for base in sure if len(base.parts) == len(sure[0].parts)]
    if len(same) > 1:
        listed = ", ".join(str(base.relative_to(folder)) for base in same[:4])
        raise BadInput(tell("entry.several", name=name, count=len(same), listed=listed))
    return same[0], named


def _file_named(base: Path, file: str) -> Path | None:
    """The file that ``file`` names below a folder, as a path or as a dotted name."""
    for text in (file, f"{file}.py", f"{file}.pyc", f"{file.replace('.', '/')}.py", f"{file.replace('.', '/')}.pyc"):
        place = contained(base, text)
        if place is not None and place.is_file():
            return place
    return None


def _folders(top: Path) -> list[Path]:
    """Folders from the top downwards, the outermost first; those we may not look into are no part of an entry."""
    found, here = [top], [top]
    for _ in range(DEPTH):
        inside = (sub for one in here for sub in sorted(one.iterdir()))
        here = [sub for sub in inside if _is_folder(sub)]
        found += here
        if len(found) > MOST_FOLDERS:
            break
    return found


def _is_folder(path: Path) -> bool:
    ours = path.is_dir() and not path.is_symlink() and not JUNK.fullmatch(path.name)
    return ours and os.access(path, os.R_OK | os.X_OK)


def _holds_own(base: Path) -> bool:
    names = {item.name.casefold(): item for item in base.iterdir()}
    folders = (names.get(own.casefold()) for own in OWN_FOLDERS)
    return any(item is not None and item.is_dir() for item in folders) or any(own in names for own in NAMES)


def _holds_class(base: Path, classes: tuple[str, ...]) -> bool:
    """Whether a file named as a class of the contest, or the file that names the class, is where the contests look."""
    own = "|".join(map(re.escape, (name.casefold() for name in classes)))
    place = re.compile(
        rf"(algorithm/(impl/|method/impl/|algorithmimplement/)?|(algorithmsystem/)?algorithmimplement/([^/]+/)?|impl/)"
        rf"(__pycache__/)?({own})(\.cpython-\d+)?\.pyc?|(algorithm/)?(config/)?algorithmconfig\.yml"
    )
    paths = [item for item in base.iterdir() if item.is_dir() or item.name.endswith(".yml")]
    for own_folder in paths:
        if own_folder.is_file():
            if place.fullmatch(own_folder.name.casefold()):
                return True
        elif own_folder.name.casefold() in (*(name.casefold() for name in OWN_FOLDERS), "config"):
            inside = (path for one in _folders(own_folder) for path in one.iterdir())
            if any(place.fullmatch(path.relative_to(base).as_posix().casefold()) for path in inside):
                return True
    return False


def take(base: Path, root: Path) -> list[str]:
    """Copy the entry's own files into ``root``; returns the names that were left out."""
    copier = Copier(base, root)
    left = []
    for item in sorted(base.iterdir()):
        name = SPELLED.get(item.name.casefold(), item.name)
        if item.is_dir() and name in OWN_FOLDERS:
            copier.respell(item.name != name)
            online = next((sub for sub in item.iterdir() if sub.name.casefold() == "algorithmimplement"), None)
            if name == "AlgorithmSystem" and online is not None:
                copier.folder(online, root / ONLINE)
            else:
                copier.folder(item, root / (IMPL if name == "impl" else name))
        elif item.is_file() and name in OWN_FILES:
            copier.file(item, root / name)
        elif not (JUNK.fullmatch(item.name) or LISTS.fullmatch(item.name) or name == "__pycache__"):
            left.append(f"{item.name}/" if item.is_dir() else item.name)
            inside = item / "AlgorithmConfig.yml"
            if name == "config" and inside.is_file():
                copier.file(inside, root / "config" / inside.name)
    return left


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
        self._spelling = SPELLED
        self._taken: dict[Path, Path] = {}

    def folder(self, source: Path, target: Path) -> None:
        target = self._spelled(target)
        target.mkdir(parents=True, exist_ok=True)
        self._inside(source)
        with os.scandir(source) as items:
            for item in sorted(items, key=lambda item: item.name):
                if JUNK.fullmatch(item.name):
                    continue
                if item.is_dir():
                    if item.is_symlink():
                        raise BadInput(tell("entry.folder_link", name=item.path))
                    self.folder(Path(item.path), target / item.name)
                else:
                    self.file(Path(item.path), target / item.name)

    def file(self, source: Path, target: Path) -> None:
        self._inside(source)
        if not source.is_file():
            raise BadInput(tell("entry.no_file", name=source))
        self.files += 1
        self.bytes += source.stat().st_size
        if self.files > MAX_FILES or self.bytes > MAX_BYTES:
            raise BadInput(tell("entry.large", name=self.base.name, files=MAX_FILES, most=MAX_BYTES >> 20))
        target = self._spelled(target)
        if self._taken.setdefault(target, source) != source:
            raise BadInput(tell("entry.letters", name=source.relative_to(self.base)))
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source, target)
        except OSError as error:
            raise BadInput(f"{source}: cannot be read ({error.strerror})") from error

    def respell(self, everything: bool) -> None:
        """Say whether the case of the next folder's name was corrected: then that of its interface folders is, too."""
        self._spelling = SPELLED | INTERFACES if everything else SPELLED

    def _spelled(self, target: Path) -> Path:
        inside = target.relative_to(self.root).as_posix()
        return self.root / self._spelling.get(inside.casefold(), inside)

    def _inside(self, source: Path) -> None:
        if not source.resolve().is_relative_to(self.base):
            raise BadInput(tell("entry.leaves", name=source))


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
    """Let everybody read it, whatever the umask: the box may run under a user of its own."""
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
