"""What is wrong with an entry and can be seen without playing it: every problem, each with its remedy."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from pathlib import Path

from bciarena.entries.interpreters import PYTHONS, base_for
from bciarena.entries.requirements import read_requirements
from bciarena.entries.sources import MAX_SOURCE_BYTES
from bciarena.entries.telling import tell
from bciarena.errors import BadInput
from bciarena.package import Package
from bciarena.plaintext import one_line

MOST_FILES = 1000
PATIENCE_S = 60
# Runs in the entry's Python. Compiling executes nothing of a source; what it may cost is bounded.
COMPILE = """
import json, resource, sys, warnings
resource.setrlimit(resource.RLIMIT_CPU, (50, 50))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
warnings.simplefilter("ignore")
for name in json.loads(sys.stdin.read()):
    try:
        with open(name, "rb") as file:
            compile(file.read(), name, "exec", dont_inherit=True)
    except SyntaxError as error:
        print(json.dumps([name, error.lineno or 0, error.msg]), flush=True)
    except (ValueError, OSError, RecursionError, MemoryError) as error:
        print(json.dumps([name, 0, "%s: %s" % (type(error).__name__, error)]), flush=True)
"""


def look_over(package: Package, here: bool = False, listed: bool = False) -> tuple[list[str], list[str]]:
    """Problems and warnings: requirements that cannot be used, a Python that is not there, sources it cannot read.

    With ``here`` this very process (which must then be a box) reads the sources, as well as our Python can judge for
    the entry's; otherwise the entry's own Python reads them. A file that nothing imports is worth only a warning.
    With ``listed`` a list of libraries is given beside the entry, so unusable lines of its own do no harm.
    """
    problems: list[str] = []
    warnings: list[str] = []
    if package.requirements and not listed:
        refused = read_requirements(package.requirements, package.root).refused
        problems += [tell("list.problem", why=words, around=tell("list.around")) for words in refused]
    python = package.python if package.python not in (None, "platform") else package.contest_python
    sources = [
        path.relative_to(package.root).as_posix()
        for path in sorted(package.root.rglob("*.py"))
        if path.is_file() and not path.is_symlink()
    ][:MOST_FILES]
    if here and python and python not in PYTHONS:
        problems.append(tell("python.unknown", python=python, first=PYTHONS[0], last=PYTHONS[-1]))
    if here:
        unreadable = _unreadable_here(package.root, sources, python)
    else:
        try:
            base, _ = base_for(package)
        except BadInput as error:
            return [*problems, str(error)], warnings
        python, unreadable = base.version, _unreadable(package.root, sources, base.executable)
    used = _used(package) if unreadable else set()
    for name, line, words in unreadable:
        told = f"{name}, line {line}: {one_line(words, 200)}" if line else f"{name}: {one_line(words, 200)}"
        if name in sources and name not in used:
            warnings.append(f"{told} (Python {python} cannot read it; nothing seems to import it)")
        else:
            key, why = "source.line" if line else "source.file", one_line(words, 200)
            problems.append(tell(key, file=name, line=line, why=why, python=python or ""))
    return problems, warnings


def _used(package: Package) -> set[str]:
    """The entry's own file and, by the words in import lines, those that it may import."""
    files = {path.relative_to(package.root).as_posix(): path for path in package.root.rglob("*.py") if path.is_file()}
    waiting, used = [package.target.rpartition(":")[0], "train.py"], set[str]()
    while waiting:
        name = waiting.pop()
        if name in used or name not in files:
            continue
        used.add(name)
        with open(files[name], "rb") as file:
            text = file.read(MAX_SOURCE_BYTES).decode("utf-8", "replace")
        lines = re.findall(r"^[ \t]*(?:from|import)[ \t]([^\n]{1,400})", text, re.M)
        words = {word for line in lines for word in re.findall(r"\w+", line)}
        waiting += [
            other
            for other, path in files.items()
            if (path.parent.name if path.stem == "__init__" else path.stem) in words
        ]
    return used


def _unreadable_here(root: Path, sources: list[str], python: str | None) -> list[tuple[str, int, str]]:
    found = []
    version = (3, int(python.split(".")[1])) if python and re.fullmatch(r"3\.\d{1,2}", python) else None
    for name in sources:
        try:
            ast.parse((root / name).read_bytes(), name, feature_version=version)
        except SyntaxError as error:
            found.append((name, error.lineno or 0, error.msg))
        except (ValueError, RecursionError, MemoryError) as error:
            found.append((name, 0, f"{type(error).__name__}: {error}"))
    return found


def _unreadable(root: Path, sources: list[str], executable: Path) -> list[tuple[str, int, str]]:
    try:
        done = subprocess.run(
            [executable, "-I", "-c", COMPILE],
            input=json.dumps(sources),
            cwd=root,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        return [("its sources", 0, f"take longer than {PATIENCE_S} s to compile")]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        found.append(["its sources", 0, f"cannot be compiled: the compiler ended with code {done.returncode}"])
    return [(name, line, words) for name, line, words in found]
