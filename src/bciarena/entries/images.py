"""Which libraries go into an environment: what the entry asks for, an image of its contest's year, caps on versions."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from bciarena.entries.config import version
from bciarena.entries.installing import Attempt
from bciarena.entries.interpreters import PYTHONS
from bciarena.entries.requirements import brought_by, libraries, names, parse_lines
from bciarena.errors import BadInput

NUMPY_2 = (3, 13)  # the first Python without an older numpy
NO_SETUPTOOLS = (3, 12)
SETUPTOOLS = "setuptools<81"  # the last ones with pkg_resources, which libraries of the years before import


@dataclass(frozen=True)
class Image:
    """Libraries that the machines of a contest had.

    ``extras`` are added for an entry that imports or asks for them; ``default`` marks the image for entries that name
    none and bring no list of libraries.
    """

    name: str
    python: str
    packages: tuple[str, ...]
    extras: tuple[str, ...] = ()
    default: bool = False


def images(contests: Mapping[str, Any] | None = None) -> dict[str, Image]:
    """Ours, those of this machine in XDG_CONFIG_HOME/bciarena/images.toml, and those of a contest, where given."""
    found = dict(libraries()["image"])
    own = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "bciarena" / "images.toml"
    if own.is_file():
        try:
            found |= tomllib.loads(own.read_text("utf-8"))["image"]
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(f"{own}: cannot be read ({error}); write tables like [image.NAME]") from error
    return {name: read_image(name, values, str(own)) for name, values in {**found, **(contests or {})}.items()}


def read_image(name: str, values: object, source: str) -> Image:
    """An image as a table describes it; BadInput names what is wrong with it."""
    try:
        assert isinstance(values, dict)
        python, lists = version(str(values["python"])), [list(values["packages"]), list(values.get("extras", []))]
        parsed = [parse_lines([str(line) for line in lines]) for lines in lists]
    except (AssertionError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{source}: image {name}: must have python and packages ({error})") from error
    if python not in PYTHONS:
        raise BadInput(
            f"{source}: image {name}: there is no Python {python} for entries; known are {', '.join(PYTHONS)}"
        )
    refused = [words for one in parsed for words in one.refused]
    if refused:
        raise BadInput(f"{source}: image {name}: {'; '.join(refused)}")
    packages, extras = (tuple(one.lines(python)) for one in parsed)
    return Image(name, python, packages, extras, bool(values.get("default")))


def find_image(name: str, contests: Mapping[str, Any] | None = None) -> Image:
    """An image by name; BadInput lists those there are."""
    known = images(contests)
    if name not in known:
        raise BadInput(f"no image {name[:60]!r}; there are: {', '.join(known)}")
    return known[name]


def attempts(python: str, lines: list[str], image: Image | None, modules: frozenset[str]) -> list[Attempt]:
    """What to try, in this order: with the image's versions and caps; then without them."""
    number = tuple(int(part) for part in python.split("."))
    asked = names(lines)
    fill = list(image.packages) if image else ["numpy<2" if number < NUMPY_2 else "numpy"]
    used = asked | brought_by(modules)
    fill += [line for line in (image.extras if image else ()) if names([line]) <= used]
    versions: dict[str, str] = {canonicalize_name(Requirement(line).name): line for line in fill}
    fill = [line for name, line in versions.items() if name not in asked]
    tools = [SETUPTOOLS] if number < NO_SETUPTOOLS and "setuptools" not in asked else []
    ours = names([*fill, *tools])
    first = Attempt((*lines, *fill, *tools), tuple(_caps([*lines, *fill], number, versions)), ours)
    plain = Attempt((*lines, *(name for name in versions if name not in asked), *tools), ours=ours)
    return [first] if plain == first else [first, plain]


def _caps(lines: list[str], number: tuple[int, ...], versions: dict[str, str]) -> list[str]:
    """Caps for every package without a version of its own, bare names in an entry's list included."""
    caps = ["numpy<2"] if number < NUMPY_2 else []
    held = {canonicalize_name(one.name): one for one in map(Requirement, lines)}
    for rule in libraries()["cap"]:
        one = held.get(rule["package"])
        if one is not None and _below(one, Version(rule["below"])):
            caps += rule["caps"]
    caps += versions.values()  # a bare numpy beside an image is the image's numpy
    free = {name for name, one in held.items() if one.specifier}
    return sorted({cap for cap in caps if canonicalize_name(Requirement(cap).name) not in free})


def _below(one: Requirement, bound: Version) -> bool:
    """Whether its own line holds it below a version."""
    for spec in one.specifier:
        try:
            version = Version(spec.version.removesuffix(".*"))
        except InvalidVersion:
            continue
        if spec.operator in ("==", "~=", "<=") and version < bound:
            return True
        if spec.operator == "<" and version <= bound:
            return True
    return False
