"""Reads what libraries an entry asks for: requirements.txt in every form people write it, or environment.yml.

The words are a stranger's and go to a program that takes options and paths from the same lines. So every line is parsed
as a package with versions, and only what was understood is written again: name, extras, versions. Markers are
evaluated here and never written. Anything else is refused by name, all of it at once.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from bciarena.entries.config import careful_yaml
from bciarena.entries.layout import contained
from bciarena.entries.telling import Told, tell
from bciarena.errors import BadInput, EntryFailed
from bciarena.plaintext import clean

MAX_PACKAGES = 200
MAX_LINES = 1000
MAX_BYTES = 1 << 18
MAX_LINE = 1000
MAX_DEPTH = 5  # of -r within -r
MAX_REFUSED = 20
PLAIN = re.compile(r"[a-z0-9-]{1,100}(\[[a-z0-9-]{1,60}(,[a-z0-9-]{1,60}){0,20}\])?[A-Za-z0-9.*+!,<>=~]{0,400}")
"""Every line that leaves this file: no space, no sign with which an option, a path, a URL or a variable begins."""
CONDA = re.compile(r"([A-Za-z0-9._-]{1,100}) {0,9}=(?!=) {0,9}([0-9A-Za-z.*!+_-]{1,60})(=[A-Za-z0-9._*-]{0,60})?")
NAMED = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,99}) {0,9}(\[[^\]]{0,200}\])? {0,9}@ {0,9}(file:|[A-Za-z]:[\\/]|/)", re.I
)
LOCAL = re.compile(r"([\w.-]{1,100} {0,9}={2,3} {0,9}[\w.!]{1,60})(\+[\w.]{1,60})(.{0,400})", re.ASCII)
"""A build for one kind of machine, as torch==1.11.0+cu113."""
HASH = re.compile(r"(?<=\s)--hash[= ]\S+")


@dataclass(frozen=True)
class Wanted:
    """What was understood, notes on what was read differently from what it says, and what is refused."""

    packages: tuple[Requirement, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def lines(self, python: str) -> list[str]:
        """Normalised lines for a Python version; EntryFailed names every refused line."""
        if self.refused:
            words = f"its requirements cannot be used: {'; '.join(self.refused)}"
            raise EntryFailed("import_error", f"{words} ({tell('list.around')})")
        return [text_of(one) for one in self.packages if one.marker is None or _holds(one.marker, python)]

    def without_refused(self) -> Wanted:
        """For somebody who gives another list beside this one: what cannot be used is left out, and told."""
        told = tuple(f"{words}; left out, since --requirements gives a list" for words in self.refused)
        return Wanted(self.packages, (*self.notes, *told))


def read_requirements(path: Path, root: Path) -> Wanted:
    """What a file of the entry in ``root`` asks for; ``-r`` is followed within ``root``."""
    reading = _Reading(root)
    if path.suffix in (".yml", ".yaml"):
        reading.environment(path)
    else:
        reading.file(path, 1)
    return Wanted(tuple(reading.packages.values()), tuple(reading.notes), tuple(reading.refused))


def parse_lines(lines: list[str]) -> Wanted:
    """The same for lines that come from elsewhere (an image, ``--requirements``)."""
    reading = _Reading(Path("/nonexistent"))
    for number, line in enumerate(lines, 1):
        reading.line(line, tell("line", number=number))
    return Wanted(tuple(reading.packages.values()), tuple(reading.notes), tuple(reading.refused))


def asks_for_anything(path: Path) -> bool:
    """Whether there is such a file with anything but comments in it."""
    return path.is_file() and any(_bare(line) for line in _text(path).splitlines())


def names(lines: list[str]) -> frozenset[str]:
    """The packages asked for, in pip's spelling."""
    return frozenset(canonicalize_name(Requirement(line).name) for line in lines)


def brought_by(modules: frozenset[str]) -> frozenset[str]:
    """The packages that bring these modules, in pip's spelling."""
    brings: dict[str, str] = libraries()["modules"]
    return frozenset(canonicalize_name(brings.get(name, name)) for name in modules)


def text_of(one: Requirement) -> str:
    """A requirement as we write it; refuses what would be read differently next time."""
    name = canonicalize_name(one.name)
    extras = ",".join(sorted(canonicalize_name(extra) for extra in one.extras))
    line = f"{name}[{extras}]{one.specifier}" if extras else f"{name}{one.specifier}"
    again = Requirement(line) if PLAIN.fullmatch(line) else None
    if again is None or again.url or again.marker or canonicalize_name(again.name) != name:
        raise InvalidRequirement("does not come back as it was read")
    if again.specifier != one.specifier:
        raise InvalidRequirement("does not come back as it was read")
    return line


@cache
def libraries() -> dict[str, Any]:
    """libraries.toml."""
    return tomllib.loads(Path(__file__).with_name("libraries.toml").read_text("utf-8"))


class _Reading:
    """One list being read; nothing is raised, so that one bad line hides no other."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.packages: dict[str, Requirement] = {}
        self.notes: list[str] = []
        self.refused: list[str] = []
        self._open: list[Path] = []
        self._lines = 0

    def file(self, path: Path, depth: int) -> None:
        try:
            text = _text(path)
        except EntryFailed as error:
            self._refuse(error.reason)
            return
        self._open.append(path)
        number = 0
        lines = text.splitlines()
        while number < len(lines):
            line, at = lines[number], number + 1
            number += 1
            while line.endswith("\\") and number < len(lines) and len(line) <= MAX_LINE:
                line = line[:-1] + " " + lines[number]
                number += 1
            where = tell("list.at_line", name=path.name, number=at)
            follow = re.fullmatch(r"(-r|--requirement)[ \t=]{0,9}(\S[^\n]{0,200})", _bare(line))
            if follow:
                self._follow(path, follow[2].strip(), where, depth)
            else:
                self.line(line, where)
            if self._too_much(path):
                break
        self._open.pop()

    def environment(self, path: Path) -> None:
        """conda's environment.yml: its pip part, and its own packages by the names they have in an index."""
        try:
            values = careful_yaml(_text(path), path.name)
        except (BadInput, EntryFailed) as error:
            self._refuse(error.reason if isinstance(error, EntryFailed) else error.args[0])
            return
        listed = values.get("dependencies") if isinstance(values, dict) else None
        for number, item in enumerate(listed if isinstance(listed, list) else [], 1):
            where = tell("list.at_dependency", name=path.name, number=number)
            inner = item.get("pip") if isinstance(item, dict) else None
            for line in inner if isinstance(inner, list) else [item]:
                if isinstance(line, str) and not (inner is None and canonicalize_name(line.strip()) == "pip"):
                    self.line(line.rpartition("::")[2] if inner is None else line, where)
            if self._too_much(path):
                break

    def line(self, raw: str, where: Told) -> None:
        """One line: a package, nothing, or a refusal."""
        line = _bare(raw)
        if not line:
            return
        self._lines += 1
        short = repr(clean(line[:60]))
        shown = f"{where}: {short}"
        if len(line) > MAX_LINE:
            self._refuse(tell("list.long_line", where=where, line=short))
            return
        if HASH.search(line):
            line = HASH.sub("", line).strip()
            if "hashes are not compared: the index decides" not in self.notes:
                self.notes.append("hashes are not compared: the index decides")
        if local := NAMED.match(line):
            line = local[1] + (local[2] or "")
            self.notes.append(f"{shown}: read as {line}, without its path")
        elif conda := CONDA.fullmatch(line):
            if conda[1].startswith("_"):  # _libgcc_mutex and the like are conda's own
                return
            line = f"{conda[1]}=={conda[2]}" if _is_version(conda[2]) else conda[1]
        elif cuda := LOCAL.fullmatch(line):
            line = cuda[1] + cuda[3]
            self.notes.append(f"{shown}: read as {line}: no index has {cuda[2]}")
        if line.startswith("-"):
            self._refuse(tell("list.option", where=where, line=short))
            return
        try:
            one = Requirement(line)
            if one.url:
                self._refuse(tell("list.url", where=where, line=short))
                return
            if meant := _meant(one):
                self.notes.append(f"{shown}: read as {meant}")
            self._keep(one, shown)
        except (InvalidRequirement, InvalidVersion, ValueError, RecursionError):
            kind = "list.path" if re.search(r"[/\\]|^\.", line) else "list.no_package"
            self._refuse(tell(kind, where=where, line=short))

    def _keep(self, one: Requirement, shown: str) -> None:
        name = canonicalize_name(one.name)
        if name in _not_packages():
            if name not in libraries()["conda"]["parts"] and name not in ("python", "pip"):
                self.notes.append(f"{shown} is part of Python and needs no line")
            return
        text_of(one)
        before = self.packages.get(name)
        if before is not None and before.marker is None and one.marker is None:
            one.specifier &= before.specifier
            one.extras |= before.extras
        self.packages[name if one.marker is None else f"{name};{one.marker}"] = one

    def _follow(self, path: Path, named: str, where: Told, depth: int) -> None:
        try:
            beside = (path.parent / named.replace("\\", "/")).relative_to(self.root).as_posix()
        except ValueError:
            beside = ""
        target, short = contained(self.root, beside), repr(clean(named[:60]))
        if target is None:
            self._refuse(tell("list.outside", where=where, line=short))
        elif not target.is_file():
            self._refuse(tell("list.no_file", where=where, line=short))
        elif depth >= MAX_DEPTH or target in self._open:
            self._refuse(tell("list.deep", where=where, line=short))
        else:
            self.file(target, depth + 1)

    def _too_much(self, path: Path) -> bool:
        if self._lines > MAX_LINES or len(self.packages) > MAX_PACKAGES:
            self.refused[MAX_REFUSED:] = []
            self._refuse(tell("list.many", name=path.name, most=MAX_PACKAGES))
            return True
        return len(self.refused) > MAX_REFUSED

    def _refuse(self, words: str) -> None:
        if len(self.refused) <= MAX_REFUSED:
            self.refused.append(words)


def _is_version(text: str) -> bool:
    """Whether an index could have it; openssl's 1.1.1q and jpeg's 9e are conda's own."""
    try:
        Version(text.removesuffix(".*"))
    except InvalidVersion:
        return False
    return True


def _meant(one: Requirement) -> str:
    """Give a requirement the name that is meant, and return it if it is another; ``===`` becomes ``==``."""
    name = canonicalize_name(one.name)
    specs = [f"=={Version(s.version)}" if s.operator == "===" else str(s) for s in one.specifier]
    if name == "sklearn":  # the stand-in's versions, 0.0 to 0.0.post12, are not scikit-learn's
        specs = [str(s) for s in one.specifier if not s.version.startswith("0.0")]
    one.specifier = SpecifierSet(",".join(specs))
    other: str = libraries()["meant"].get(name, "")
    one.name = other or one.name
    return other


def _holds(marker: Marker, python: str) -> bool:
    """A marker's answer on the machine that runs the entry."""
    here = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_version": f"{python}.0",
        "platform_release": "",
        "platform_version": "",
        "extra": "",
    }
    try:
        return marker.evaluate(here)
    except Exception:  # compares what cannot be compared: an unknown condition is not met
        return False


@cache
def _not_packages() -> frozenset[str]:
    stdlib = {canonicalize_name(name) for name in sys.stdlib_module_names}
    return frozenset({*stdlib, *libraries()["conda"]["parts"], "python", "pip"})


def _bare(line: str) -> str:
    """Without its comment: as pip has it, a # at the beginning or after a space."""
    line = line.strip()
    if line.startswith("#"):
        return ""
    for gap in (" #", "\t#"):
        line = line.partition(gap)[0]
    return line.strip()


def _text(path: Path) -> str:
    with open(path, "rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise EntryFailed("import_error", tell("list.long", name=path.name))
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = raw.decode("utf-16", "replace")
    elif raw[1:2] == b"\0" or raw[:1] == b"\0":  # UTF-16 without a byte order mark
        text = raw.decode("utf-16-le" if raw[1:2] == b"\0" else "utf-16-be", "replace")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("gb18030", "replace")
    return text.replace("\x00", "")
