"""A contest is a folder that holds whatever is true of that contest only.

Required are ``rules.py`` (RULEBOOK, or RULEBOOKS once there is a second reading) and the score it names, usually in
``score.py``. Everything else may be absent, and what needs it then says so in one line; docs/contests.md lists all
parts.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tomllib
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, TypeVar

from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.words import read_words

T = TypeVar("T")
ID = re.compile(r"[a-z][a-z0-9_-]{0,39}/[1-9][0-9]{0,3}")


@dataclass(frozen=True)
class Contest:
    """One contest's folder, and the package name its modules are imported under."""

    folder: Path
    package: str
    rulebooks: tuple[Rulebook, ...]

    @property
    def name(self) -> str:
        """Without version: ``p300``."""
        return self.rulebooks[0].name

    @property
    def rules(self) -> Rulebook:
        """The newest reading."""
        return max(self.rulebooks, key=version)

    def has(self, file: str) -> bool:
        """Whether the folder has a part, given by the name of its file or folder."""
        return (self.folder / file).exists()

    def part(self, name: str, kind: type[T], usual: T | None = None) -> T:
        """The object that ``name.py`` defines under its own name in capitals; ``usual`` if there is no such file."""
        if not self.has(f"{name}.py"):
            if usual is not None:
                return usual
            raise BadInput(f"{self.rules.id}: this contest has no {name}.py ({self.folder}), so this cannot be done")
        found = getattr(imported(self.package, name, self.folder), name.upper(), None)
        if not isinstance(found, kind):
            raise BadInput(f"{self.folder / name}.py: must offer {name.upper()}, a {kind.__module__}.{kind.__name__}")
        return found

    @cached_property
    def words(self) -> dict[str, Mapping[str, Any]]:
        """The contest's words by language and table; what a language lacks is in English."""
        return dict(read_words(self.folder))

    @property
    def rulings(self) -> Mapping[str, tuple[str, str]]:
        """Where its text is silent or ambiguous: what about, and the reading (RULINGS of rules.py)."""
        found: Mapping[str, tuple[str, str]] = getattr(imported(self.package, "rules", self.folder), "RULINGS", {})
        return found

    @cached_property
    def awards(self) -> dict[str, Any]:
        """What its text says about awards and finalists (awards.toml); empty where it is silent."""
        path = self.folder / "awards.toml"
        try:
            return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: {error}") from error

    def title(self, language: str) -> str:
        return self.rules.title_zh if language == "zh" else self.rules.title

    def answers(self, language: str) -> dict[str, str]:
        """Every answer in words a person reads: from the words' table ``answers``, else the rulebook's vocabulary."""
        return dict(self.rules.vocabulary) | dict(self.words.get(language, {}).get("answers", {}))


def version(book: Rulebook) -> int:
    """The number after the slash."""
    return int(book.id.split("/")[1])


def load(folder: Path, package: str = "") -> Contest:
    """Open a contest's folder; BadInput says what is wrong with it."""
    if not os.path.isfile(folder / "rules.py"):  # unlike Path.is_file, no name is too strange for it
        raise BadInput(f"{folder}: is not a contest folder (no rules.py); arena rulebook new DIR writes one")
    folder = folder.resolve()
    package = package or _package_for(folder)
    module = imported(package, "rules", folder)
    books: list[Any] = list(getattr(module, "RULEBOOKS", None) or [getattr(module, "RULEBOOK", None)])
    for book in books:
        if not isinstance(book, Rulebook):
            raise BadInput(f"{folder / 'rules.py'}: must offer RULEBOOK = build(Rule(...), ...)")
        if not ID.fullmatch(book.id):
            raise BadInput(
                f"{folder / 'rules.py'}: id {book.id!r}: write a name in small letters, a slash and a version: mine/1"
            )
    if len({book.name for book in books}) != 1:
        raise BadInput(f"{folder / 'rules.py'}: rulebooks of one folder share one name")
    return Contest(folder, package, tuple(books))


def _package_for(folder: Path) -> str:
    """A package for a folder outside our tree, under a name of its own."""
    package = f"bciarena_contest_{sha256(str(folder).encode()).hexdigest()[:12]}"
    if package not in sys.modules:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[package] = module_from_spec(spec)
    return package


def imported(package: str, name: str, folder: Path) -> Any:
    """One module of a contest; whatever goes wrong inside it is reported with file and line."""
    try:
        return importlib.import_module(f"{package}.{name}")
    except BadInput:
        raise
    except Exception as error:
        own = [at for at in traceback.extract_tb(error.__traceback__) if at.filename.startswith(str(folder))]
        line = error.lineno if isinstance(error, SyntaxError) else own[-1].lineno if own else 0
        file = error.filename if isinstance(error, SyntaxError) else own[-1].filename if own else folder / f"{name}.py"
        words = error.msg if isinstance(error, SyntaxError) else error
        raise BadInput(f"{file}: line {line}: {type(error).__name__}: {words}") from error
