"""An interpreter for an entry: a Python of the version it names, with numpy and what its requirements ask for.

Environments are kept in the user's cache folder, one per Python and list of requirements. They are filled by the base
Python's pip, from wheels only, so nothing an entry brings or asks for is executed outside its box.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import bciarena
from bciarena.entries.interpreters import Found, find_python, nearest_python
from bciarena.entries.model import Interpreter, Package
from bciarena.entries.requirements import Wanted, names, read_requirements
from bciarena.errors import BadInput, EntryFailed, Fault

INSTALL_LIMIT_S = 1800
RECIPE = 1  # goes into the key: a change in how environments are made gives new ones


def interpreter_for(
    package: Package, python: str | None = None, on_progress: Callable[[str], None] | None = None
) -> Interpreter:
    """The interpreter to run an entry with; makes its environment where it is not there yet.

    What decides: ``python``; the version the entry names; for the plain dialect without requirements this platform's
    own Python; else the version its contest ran, or the nearest one found, with a warning.
    """
    wanted = python or package.python
    if wanted == "platform" or (wanted is None and package.dialect == "D" and package.requirements is None):
        return platform_interpreter()
    warning = ""
    if wanted:
        base = find_python(wanted)
    elif package.dialect == "D" or not package.contest_python:
        base = find_python(f"{sys.version_info[0]}.{sys.version_info[1]}")
    else:
        base, warning = nearest_python(package.contest_python)
    wanted_lines = read_requirements(package.requirements, package.root) if package.requirements else Wanted()
    lines = wanted_lines.lines(base.version)
    folder = environment(base, lines, on_progress or _say)
    return Interpreter(
        folder / "bin" / "python",
        base.full,
        (*base.prefixes, folder),
        tuple(filter(None, (warning, *wanted_lines.notes))),
    )


def platform_interpreter() -> Interpreter:
    """This platform's own Python with all that is installed beside it."""
    shown = [Path(sys.base_prefix), Path(sys.base_exec_prefix), Path(sys.prefix)]
    home = Path(bciarena.__file__).resolve().parent
    if not any(home.is_relative_to(place.resolve()) for place in shown):
        shown.append(home)  # installed for editing: the package lies outside the environment
    version = ".".join(map(str, sys.version_info[:3]))
    return Interpreter(Path(sys.executable), version, tuple(dict.fromkeys(shown)))


def cache_folder() -> Path:
    """Where environments are kept: XDG_CACHE_HOME/bciarena/envs."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "bciarena" / "envs"


def environment(base: Found, lines: list[str], on_progress: Callable[[str], None]) -> Path:
    """The folder of the environment with these requirements; made beside and renamed, so it is whole or not there."""
    asked = lines if "numpy" in names(lines) else [_numpy_for(base), *lines]
    key = hashlib.sha256("\n".join([str(RECIPE), base.full, str(base.executable), *sorted(asked)]).encode())
    folder = cache_folder() / f"py{base.version}-{key.hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    with _locked(folder.with_name(f"{folder.name}.lock")):
        if not folder.is_dir():  # another process may have made it while this one waited
            on_progress(f"preparing Python {base.full} with {', '.join(asked)} (once; kept in {folder})")
            _make(base, asked, folder)
    return folder


def _numpy_for(base: Found) -> str:
    """The contests ran numpy 1.2x; later Pythons have none."""
    return "numpy<2" if base.number < (3, 13) else "numpy"


def _make(base: Found, asked: list[str], folder: Path) -> None:
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        _run([base.executable, "-I", "-m", "venv", "--without-pip", part], base)
        site = part / "lib" / f"python{base.version}" / "site-packages"
        site.mkdir(parents=True, exist_ok=True)
        listed = part / "requirements.txt"
        listed.write_text("\n".join(asked) + "\n", "utf-8")
        # The base Python's pip with --target: the environment, with whatever it then holds, is never started here.
        _run(
            [
                *(base.executable, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check", "install"),
                *("--quiet", "--only-binary=:all:", "--no-warn-script-location", "--target", site, "-r", listed),
            ],
            base,
        )
        os.chmod(part, 0o755)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _run(command: list[str | Path], base: Found) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, errors="replace", umask=0o022
        )
    except subprocess.TimeoutExpired as error:
        raise Fault(f"installing for Python {base.version} took longer than {INSTALL_LIMIT_S} s") from error
    except OSError as error:
        raise BadInput(f"{base.executable}: cannot be started ({error.strerror})") from error
    if done.returncode == 0:
        return
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if any("No module named pip" in line for line in said):
        raise BadInput(f"{base.executable} has no pip; give it one with: {base.executable} -m ensurepip")
    errors = [line.removeprefix("ERROR:").strip() for line in said if line.startswith("ERROR:")]
    reason = next((line for line in errors if "No matching distribution" in line), "") or " ".join(errors or said[-1:])
    raise EntryFailed("import_error", f"its requirements cannot be installed for Python {base.version}: {reason[:400]}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "w")  # noqa: SIM115
    except OSError as error:
        raise BadInput(f"{path.parent}: cannot be written ({error.strerror}); set XDG_CACHE_HOME") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(f"arena: {text}", file=sys.stderr, flush=True)
