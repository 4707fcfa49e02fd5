"""Which modules an entry imports that its Python will not have, read from its sources."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from bciarena.entries.requirements import libraries
from bciarena.entries.sources import read_source
from bciarena.package import Interpreter, Package

MOST_FILES = 400
OURS = frozenset(
    "Algorithm AlgorithmImplement AlgorithmSystem Framework Task Challenge common Common Interface "
    "benchmark_utils compet_core".split()
)
"""Top-level modules that the contests' frameworks brought."""
GONE = frozenset("distutils imp asynchat asyncore smtpd binhex formatter parser symbol macpath dummy_threading".split())
"""Modules that only older Pythons have, among those an entry may name."""


def imported(package: Package) -> dict[str, str]:
    """Modules from elsewhere that its sources import, each with a file that does so."""
    sources = [path for path in sorted(package.root.rglob("*.py")) if not path.is_symlink()][:MOST_FILES]
    own = {part for path in package.root.rglob("*") for part in (path.name.partition(".")[0],)}
    found: dict[str, str] = {}
    for path in sources:
        for name in read_source(path).imports:
            if name.isidentifier() and not {name} & (own | OURS | GONE | sys.stdlib_module_names):
                found.setdefault(name, path.relative_to(package.root).as_posix())
    return found


def missing(package: Package, interpreter: Interpreter) -> dict[str, str]:
    """Imported modules that the interpreter's environment lacks, each with the package that provides it."""
    here = interpreter.executable == Path(sys.executable)
    sites = [site for folder in interpreter.readable[-1:] for site in folder.glob("lib/python*/site-packages")]
    there = {item.name.partition(".")[0] for site in sites for item in site.iterdir()}
    brings: dict[str, str] = libraries()["modules"]
    return {
        name: brings.get(name, name)
        for name in sorted(imported(package))
        if (find_spec(name) is None if here else name not in there)
    }
