"""Packs an entry for upload: its own part, compiled by the Python it will run in, in an archive without dates.

The same content gives the same bytes: names are sorted, times are fixed, and compiled files carry neither the time nor
the place of their source.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from bciarena.contests.rulebook import Rulebook
from bciarena.entries.config import NAMES, Config, read_config, version
from bciarena.entries.environments import added
from bciarena.entries.images import find_image
from bciarena.entries.interpreters import Found, base_for, nearest_python
from bciarena.entries.package import HERE, open_entry
from bciarena.entries.requirements import Wanted, read_requirements
from bciarena.errors import BadInput, EntryFailed
from bciarena.package import Package
from bciarena.scratch import scratch
from bciarena.writing import wanted_file

# Runs in the entry's Python (3.8 and later). Compiling executes nothing of the source.
COMPILE = """
import json, os, py_compile, sys
for source in json.loads(sys.stdin.read()):
    try:
        py_compile.compile(source, source + "c", dfile=source, doraise=True,
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    except py_compile.PyCompileError as error:
        sys.exit(" ".join(str(error).split()))
    except (ValueError, OSError, RecursionError) as error:
        sys.exit("%s: %s" % (source, error))
    os.remove(source)
"""
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say


class Packed(NamedTuple):
    """What was written."""

    file: Path
    python: str
    target: str
    digest: str
    names: tuple[str, ...]
    warnings: tuple[str, ...]
    size: int


def pack(
    spec: str,
    rulebook: Rulebook,
    out: Path,
    python: str | None = None,
    *,
    entry: str | None = None,
    image: str | None = None,
    requirements: Path | None = None,
) -> Packed:
    """Compile an entry and write it to ``out``, a .zip or .tar.gz; the result is opened once as a check."""
    if not out.name.endswith((".zip", ".tar.gz", ".tgz")):
        raise BadInput(f"{out}: name a .zip or a .tar.gz")
    if spec.startswith("@"):
        raise BadInput(f"{spec} comes with the platform and needs no packing")
    with open_entry(spec, rulebook, python=python, entry=entry) as package:
        said = read_config(package.root)
        notes: tuple[str, ...] = ()
        if image:
            _set(package.root, "unitImage", find_image(image).name)
        if requirements:
            notes = _add_libraries(package, requirements, said)
        elif package.requirements:
            read_requirements(package.requirements, package.root).lines(
                HERE
            )  # refuses a list that no site would accept
        asked = find_image(image).python if image and not (python or package.python) else None
        base, warning = nearest_python(asked) if asked else base_for(package, version(python) if python else None)
        _compile(package.root, base)
        if said.python not in ("", base.version):
            _set(package.root, "python", base.version)
        if entry or not said.entry:  # a compiled file does not show its classes
            file, _, name = package.target.rpartition(":")
            _set(package.root, "entry", f"{file.removesuffix('c')}:{name}")
        names = tuple(sorted(_own_files(package.root)))
        content = _zip(package.root, names) if out.name.endswith(".zip") else _tar_gz(package.root, names)
        warnings = (*package.warnings, *notes, *([warning] if warning else []))
    with scratch() as work:  # what is not an entry when opened again is not written
        (work / out.name).write_bytes(content)
        with open_entry(str(work / out.name), rulebook) as package:
            done = Packed(out, base.version, package.target, package.digest, names, warnings, len(content))
    _write(out, content)
    return done


def _add_libraries(package: Package, path: Path, said: Config) -> tuple[str, ...]:
    """Pack the entry's own list together with another one; returns the notes on it."""
    own = read_requirements(package.requirements, package.root).without_refused() if package.requirements else Wanted()
    lists = [own, added(path)]
    target = package.requirements or package.root / "requirements.txt"
    if target.suffix != ".txt":  # an environment.yml: a plain list takes its place
        target.unlink()
        target = package.root / "requirements.txt"
        if said.requirements:
            _set(package.root, "requirements", target.name)
    target.write_text(
        "".join(f"{line}\n" for line in dict.fromkeys(str(one) for all_ in lists for one in all_.packages))
    )
    return own.notes


def _own_files(root: Path) -> list[str]:
    """Files of the entry, without the links that only serve its imports while it runs."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
        paths = [Path(folder) / name for name in files]
        found += [path.relative_to(root).as_posix() for path in paths if not path.is_symlink()]
    return found


def _compile(root: Path, base: Found) -> None:
    sources = sorted(name for name in _own_files(root) if name.endswith(".py"))
    done = subprocess.run(
        [base.executable, "-I", "-c", COMPILE],
        input=json.dumps(sources),
        cwd=root,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise EntryFailed("import_error", f"Python {base.version} cannot compile it: {done.stderr.strip()[:500]}")


def _set(root: Path, key: str, value: str) -> None:
    """Write a key into the entry's configuration, which is made where there is none."""
    toml, other = (root / name for name in NAMES)
    if other.is_file() and not toml.is_file():
        values = json.loads(other.read_text("utf-8-sig") or "{}")
        other.write_text(json.dumps({**values, key: value}, ensure_ascii=False, indent=1) + "\n", "utf-8")
        return
    said = toml.read_text("utf-8-sig") if toml.is_file() else ""
    others = [line for line in said.splitlines() if not re.match(rf"{key}\s*=", line)]
    toml.write_text("\n".join([f'{key} = "{value}"', *others]) + "\n", "utf-8")


def _zip(root: Path, names: tuple[str, ...]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            info = zipfile.ZipInfo(name, LONG_AGO)
            info.external_attr = 0o100644 << 16
            archive.writestr(info, (root / name).read_bytes(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _tar_gz(root: Path, names: tuple[str, ...]) -> bytes:
    out = io.BytesIO()
    with (
        gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0) as plain,
        tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in names:
            content = (root / name).read_bytes()
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o644
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def _write(out: Path, content: bytes) -> None:
    with wanted_file(out) as beside:
        beside.write_bytes(content)
