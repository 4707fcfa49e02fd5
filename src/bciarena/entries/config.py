"""What an entry says about itself: config.toml or config.json, and dialect C's AlgorithmConfig.yml.

Keys read from config.toml / config.json (all optional, others are left alone):

- ``python``: the version it wants, ``"3.8"``;
- ``entry``: where its class is, ``"Algorithm/AlgorithmImplementMI.py:AlgorithmImplementMI"`` or ``"module:Class"``;
- ``dialect``: ``"A"``, ``"B"``, ``"C"`` or ``"D"``, where the location of the class does not tell;
- ``requirements``: the name of its requirements file, by default ``requirements.txt``;
- ``challenge``: which one it was written for, to catch a mix-up;
- ``unitImage``: the image whose libraries it expects (see entries.images).

From AlgorithmConfig.yml: ``method.method_class_file``, ``method.method_class_name``, and every source's
``source_receiver.configuration.chunk_size`` (a wrong one is a warning: the rulebook alone decides).
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bciarena.entries.telling import tell
from bciarena.errors import BadInput
from bciarena.plaintext import one_line

NAMES = ("config.toml", "config.json")
YML_PLACES = ("Algorithm/config/AlgorithmConfig.yml", "AlgorithmConfig.yml", "config/AlgorithmConfig.yml")
MAX_BYTES = 1 << 16
MAX_LINE = 2000
MAX_WORD = 300
KNOWN = ("python", "entry", "dialect", "requirements", "challenge", "unitImage")


@dataclass(frozen=True)
class Config:
    """What the configuration says; empty where it says nothing."""

    python: str = ""
    entry: str = ""
    dialect: str = ""
    requirements: str = ""
    challenge: str = ""
    image: str = ""
    chunks: tuple[int, ...] = ()


def version(text: str) -> str:
    """``3.8`` out of ``3.8.7``, ``python3.8``, ``cp38`` or ``3.8``; BadInput for anything else."""
    text = text[:MAX_WORD]
    match = re.search(r"(?<!\d)(\d)\.(\d{1,2})(?!\d)", text) or re.fullmatch(r"(?:cp|py)?(\d)(\d{1,2})", text.strip())
    if not match:
        raise BadInput(tell("config.python", text=repr(text[:40])))
    return f"{match[1]}.{match[2]}"


def read_config(root: Path) -> Config:
    """Everything the entry in ``root`` says about itself."""
    said: dict[str, str] = {}
    for name in NAMES:
        if (root / name).is_file():
            said = {**_plain(root / name), **said}
    file, chunks = _yml(root)
    if file and not said.get("entry"):
        said["entry"] = file
    if said.get("python"):
        said["python"] = version(said["python"])
    if said.get("dialect", "D").upper() not in ("A", "B", "C", "D"):
        raise BadInput(tell("config.dialect", text=repr(said["dialect"])))
    return Config(
        said.get("python", ""),
        said.get("entry", ""),
        said.get("dialect", "").upper(),
        said.get("requirements", ""),
        said.get("challenge", ""),
        said.get("unitImage", ""),
        chunks,
    )


def _plain(path: Path) -> dict[str, str]:
    """The keys we read, as texts."""
    text = _text(path)
    if path.suffix == ".toml" and any(len(line) > MAX_LINE for line in text.splitlines()):
        raise BadInput(tell("config.line", name=path.name, most=MAX_LINE))  # a.a.a...: quadratic to read
    try:
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BadInput(tell("config.unreadable", name=path.name, why=one_line(str(error), 200))) from None
    if not isinstance(values, dict):
        raise BadInput(tell("config.keys", name=path.name))
    return {key: _word(values[key], key, path.name) for key in KNOWN if isinstance(values.get(key), (str, int, float))}


def _word(value: Any, key: str, file: str) -> str:
    """A value as a text that can be part of a path and of a message."""
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 1_000_000):
        value = str(value)
    if not isinstance(value, str) or len(value) > MAX_WORD or not value.isprintable():
        raise BadInput(tell("config.word", name=file, word=key))
    return value


class _Plain(yaml.BaseLoader):
    """Texts, lists and mappings only. No aliases: they can make a small file large."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not accepted; write the value out")
        return super().compose_node(parent, index)


def careful_yaml(text: str, name: str) -> Any:
    """YAML from outside with every value as plain text; BadInput for what cannot be read."""
    try:
        return yaml.load(text, Loader=_Plain)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(tell("config.unreadable", name=name, why=one_line(str(error), 200))) from None


def _yml(root: Path) -> tuple[str, tuple[int, ...]]:
    """The class named by AlgorithmConfig.yml and the chunk sizes it states."""
    path = next((root / place for place in YML_PLACES if (root / place).is_file()), None)
    if path is None:
        return "", ()
    values = careful_yaml(_text(path), path.name)
    method = _inside(values, "method")
    file, name = _inside(method, "method_class_file"), _inside(method, "method_class_name")
    sources = _inside(values, "sources")
    chunks = [
        _inside(source, "source_receiver", "configuration", "chunk_size")
        for source in (sources.values() if isinstance(sources, dict) else ())
    ]
    entry = ""
    if isinstance(file, str) and isinstance(name, str):
        entry = _word(f"{file}:{name}", "method_class_file", path.name)
    return entry, tuple(int(chunk) for chunk in chunks if isinstance(chunk, str) and re.fullmatch(r"[0-9]{1,6}", chunk))


def _inside(values: Any, *keys: str) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _text(path: Path) -> str:
    with open(path, "rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise BadInput(tell("config.long", name=path.name))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("gb18030", "replace")
