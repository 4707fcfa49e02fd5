"""What is wrong with an entry and can be seen without playing it: every problem, each with its remedy."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from bciarena.entries.interpreters import base_for
from bciarena.entries.model import Package
from bciarena.entries.requirements import read_requirements
from bciarena.errors import BadInput
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


def look_over(package: Package) -> list[str]:
    """Lines of its requirements that cannot be used, a Python that is not there, sources that it cannot read."""
    found = []
    if package.requirements:
        refused = read_requirements(package.requirements, package.root).refused
        found += [f"its requirements: {words}\nLeave the line out, or write it as name==version." for words in refused]
    try:
        base, _ = base_for(package)
    except BadInput as error:
        return [*found, str(error)]
    sources = [
        path.relative_to(package.root).as_posix()
        for path in sorted(package.root.rglob("*.py"))
        if path.is_file() and not path.is_symlink()
    ]
    for name, line, words in _unreadable(package.root, sources[:MOST_FILES], base.executable):
        where = f"{name}, line {line}" if line else name
        found.append(f"{where}: {one_line(words, 200)}\nPython {base.version} cannot read it: mend the line, or name "
                     "another Python in config.toml (python = \"3.10\").")  # fmt: skip
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
