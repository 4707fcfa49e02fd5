"""What an entry says about itself: config.toml or config.json, and dialect C's AlgorithmConfig.yml.

Keys read from config.toml / config.json (all optional, others are left alone):

- ``python``: the version it wants, ``"3.8"``;
- ``entry``: where its class is, ``"Algorithm/AlgorithmImplementMI.py:AlgorithmImplementMI"`` or ``"module:Class"``;
- ``dialect``: ``"A"``, ``"B"``, ``"C"`` or ``"D"``, where the place of the class does not tell;
- ``requirements``: the name of its requirements file, by default ``requirements.txt``;
- ``challenge``: which one it was written for, to catch a mix-up.

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

from bciarena.errors import BadInput

NAMES = ("config.toml", "config.json")
YML_PLACES = ("Algorithm/config/AlgorithmConfig.yml", "AlgorithmConfig.yml", "config/AlgorithmConfig.yml")
MAX_BYTES = 1 << 18


@dataclass(frozen=True)
class Config:
    """What was said; empty where nothing was."""

    python: str = ""
    entry: str = ""
    dialect: str = ""
    requirements: str = ""
    challenge: str = ""
    chunks: tuple[int, ...] = ()


def version(text: str) -> str:
    """``3.8`` out of ``3.8.7``, ``python3.8``, ``cp38`` or ``3.8``; BadInput for anything else."""
    match = re.search(r"(?<!\d)(\d)\.(\d{1,2})(?!\d)", text) or re.fullmatch(r"(?:cp|py)?(\d)(\d{1,2})", text.strip())
    if not match:
        raise BadInput(f"{text[:40]!r} is no Python version; write it like 3.8")
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
        raise BadInput(f"config: dialect {said['dialect']!r} is none of A, B, C, D")
    return Config(
        said.get("python", ""),
        said.get("entry", ""),
        said.get("dialect", "").upper(),
        said.get("requirements", ""),
        said.get("challenge", ""),
        chunks,
    )


def _plain(path: Path) -> dict[str, str]:
    """The keys we read, as texts."""
    text = _text(path)
    try:
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path.name}: cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise BadInput(f"{path.name}: must hold keys and values")
    known = ("python", "entry", "dialect", "requirements", "challenge")
    return {key: str(values[key]) for key in known if isinstance(values.get(key), (str, int, float))}


def _yml(root: Path) -> tuple[str, tuple[int, ...]]:
    """The class named by AlgorithmConfig.yml and the chunk sizes it states."""
    path = next((root / place for place in YML_PLACES if (root / place).is_file()), None)
    if path is None:
        return "", ()
    try:
        values = yaml.safe_load(_text(path))
    except (yaml.YAMLError, RecursionError) as error:
        raise BadInput(f"{path.name}: cannot be read: {' '.join(str(error).split())[:200]}") from error
    method = _inside(values, "method")
    file, name = _inside(method, "method_class_file"), _inside(method, "method_class_name")
    sources = _inside(values, "sources")
    chunks = [
        _inside(source, "source_receiver", "configuration", "chunk_size")
        for source in (sources.values() if isinstance(sources, dict) else ())
    ]
    entry = f"{file}:{name}" if isinstance(file, str) and isinstance(name, str) else ""
    return entry, tuple(chunk for chunk in chunks if isinstance(chunk, int))


def _inside(values: Any, *keys: str) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_BYTES:
        raise BadInput(f"{path.name}: is longer than any configuration")
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("gb18030", "replace")
