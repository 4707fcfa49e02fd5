"""Defaults from files: the user's own, and one in the current folder.

A table for each command (``[run]``, ``[live.record]``), a key for each option, named as on the command line without
its dashes; ``lang`` stands above all tables. What is given on the command line wins, then the current folder's file,
then the user's own.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput
from bciarena.words import LANGUAGES

LOCAL = "arena.toml"
ANYBODYS = {
    "accuracy", "alarms", "block", "budget", "channels", "classes", "clock", "cores", "cue", "difference",
    "distance-cm", "format", "json", "language", "mains", "minutes", "people", "pops", "rate", "rounds", "screen-cm",
    "seconds", "speed", "stream", "subject", "teams", "trials", "unit", "unsteady", "window", "word",
}  # fmt: skip
"""What a folder's file may set, beside a challenge that is known by its name. Such a file comes along with other
people's packages: nothing in it may weaken the box, run code, open this machine, name files, or change a site."""


@dataclass
class Defaults:
    """What the files say.

    Attributes
    ----------
    by_command : dict
        As Click's ``default_map``: nested by command, values by the parameter's name.
    sources : dict
        From (command, option) to the value and the file it comes from.
    """

    language: str | None = None
    by_command: dict[str, Any] = field(default_factory=dict)
    sources: dict[tuple[str, str], tuple[Any, Path]] = field(default_factory=dict)


def files() -> list[Path]:
    """The files that are read, the weaker one first; ``ARENA_CONFIG`` names another one of your own (empty: none)."""
    named = os.environ.get("ARENA_CONFIG")
    base = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    own = base / "bciarena" / "config.toml" if named is None else Path(named) if named else None
    return [path for path in (own, Path(LOCAL)) if path is not None]


def read(tree: Any) -> Defaults:
    """Read the files for a command tree; whatever it does not have is refused."""
    found = Defaults()
    for path in files():
        if not path.is_file():
            continue
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: {error}") from error
        _add(found, tree, content, path, [])
    return found


def _add(found: Defaults, group: Any, content: dict[str, Any], path: Path, above: list[str]) -> None:
    commands = getattr(group, "commands", {})
    for key, value in content.items():
        if not above and key == "lang":
            if value not in LANGUAGES:
                raise BadInput(f"{path}: lang = {value!r}: choose one of {', '.join(LANGUAGES)}")
            found.language = value
        elif not isinstance(value, dict):
            raise BadInput(f"{path}: {key}: stands outside a command's table; put it under [run] or another command")
        elif key not in commands:
            raise BadInput(f"{path}: [{'.'.join([*above, key])}]: there is no such command{_near(key, commands)}")
        elif hasattr(commands[key], "commands"):
            _add(found, commands[key], value, path, [*above, key])
        else:
            _options(found, commands[key], value, path, [*above, key])


def _options(found: Defaults, command: Any, content: dict[str, Any], path: Path, words: list[str]) -> None:
    own = dict(options_of(command))
    place, table = found.by_command, ".".join(words)
    for word in words:
        place = place.setdefault(word, {})
    for key, value in content.items():
        name = key.replace("_", "-")
        if name not in own:
            raise BadInput(f"{path}: [{table}] {key}: arena {' '.join(words)} has no such option{_near(name, own)}")
        if path == Path(LOCAL) and not (name in ANYBODYS or (name == "challenge" and _is_known(value))):
            raise BadInput(
                f"{path}: [{table}] {key}: may be set in your own file only ({files()[0]}), as a folder's file may "
                "come from others"
            )
        place[own[name].name] = value
        found.sources[" ".join(words), name] = (value, path)


def _is_known(challenge: Any) -> bool:
    """Whether it is a contest's name: a folder's code would run."""
    from bciarena.contests import CONTESTS, RULEBOOKS

    return challenge in CONTESTS or challenge in RULEBOOKS


def options_of(command: Any) -> Iterator[tuple[str, Any]]:
    """The options of a command by their long names without dashes."""
    for parameter in command.params:
        for name in parameter.opts if parameter.param_type_name == "option" else ():
            if name.startswith("--") and name != "--help":
                yield name[2:], parameter


def _near(word: str, known: Any) -> str:
    near = get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""
