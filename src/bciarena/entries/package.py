"""Opens an entry: its own part is copied into a private folder, its class is found, and nothing of it is run.

Taken are ``AlgorithmImplement/`` or ``Algorithm/``, the configuration (see entries.config), requirements.txt and
train.py. The framework side - main.py, Framework/, Task/ and whatever else an upload holds - is ours, as the contest
texts demand.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bciarena.contests.rulebook import Rulebook
from bciarena.entries import library, plain, reference
from bciarena.entries.archive import unpack
from bciarena.entries.config import Config, read_config, version
from bciarena.entries.discover import MAIN_BYTES, find_target
from bciarena.entries.layout import (
    IGNORED,
    LISTS,
    base_of,
    contained,
    open_to_readers,
    settle_compiled,
    show_both_ways,
    take,
    take_lists,
)
from bciarena.entries.requirements import asks_for_anything
from bciarena.entries.sources import python_of
from bciarena.entries.telling import Told, tell
from bciarena.errors import BadInput, EntryFailed
from bciarena.package import Dialect, Package
from bciarena.plaintext import one_line
from bciarena.scratch import scratch

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@contextmanager
def open_entry(
    spec: str,
    rulebook: Rulebook,
    *,
    entry: str | None = None,
    python: str | None = None,
    boxed: bool = False,
    problems: list[str] | None = None,
) -> Iterator[Package]:
    """An entry, ready to be played; its copy is removed afterwards, whatever happens.

    Parameters
    ----------
    spec : str
        A folder, a .zip, a .tar.gz, ``module.py:Class`` (dialect D) or a reference entry's ``@name``.
    rulebook : Rulebook
        The challenge it is to be played in: it fixes the dialect and the class names looked for.
    entry : str, optional
        ``module:Class`` or ``path/file.py:Class`` where neither the names nor its configuration tell.
    python : str, optional
        The version it is to run in, instead of the one it names.
    boxed : bool
        Read an archive in a box, as a site does with uploads, so that a flaw in our readers does no harm.
    problems : list of str, optional
        Takes what is wrong with its compiled files, which otherwise is raised as EntryFailed.
    """
    wanted = version(python) if python else None
    with scratch() as place:
        root = place / "package"
        root.mkdir()
        if entry and (spec.startswith("@") or _is_module(spec)):
            raise BadInput(f"{spec} names its class itself: leave --entry out")
        if spec.startswith("@"):
            package = _reference(spec, rulebook, root, wanted)
        elif _is_module(spec):
            package = _module(spec, rulebook, root, wanted)
        else:
            package = _upload(spec, rulebook, root, place / "upload", entry, wanted, boxed)
        python = _compiled_python(root) if package.python in (None, "platform") else package.python
        wrong = list(_wrongly_compiled(root, python))
        if wrong and problems is None:
            raise EntryFailed("import_error", "; ".join(wrong))
        if problems is not None:
            problems += [*package.problems, *wrong]
        yield package


def _is_module(spec: str) -> bool:
    _, colon, name = spec.rpartition(":")
    return bool(colon) and name.isidentifier() and not os.path.exists(spec)


def _reference(spec: str, rulebook: Rulebook, root: Path, wanted: str | None) -> Package:
    item = reference.find(spec)
    if item.challenge != rulebook.name:
        raise BadInput(f"{spec} plays {item.challenge}, not {rulebook.id}")
    if wanted:
        raise BadInput(f"{spec} runs in the platform's own Python; leave --python out")
    shutil.copytree(item.folder, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    said = read_config(root)
    target, _ = find_target(root, rulebook, said.entry)
    library.add_used(root)
    open_to_readers(root)
    return Package(
        name=spec,
        root=root,
        dialect=_dialect(said, target, rulebook),
        target=target,
        python="platform",
        requirements=None,
        digest=digest(root),
        needs_model=item.needs_model,
    )


def _module(spec: str, rulebook: Rulebook, root: Path, wanted: str | None) -> Package:
    file, _, name = spec.rpartition(":")
    source = Path(file)
    if not source.is_file():
        raise BadInput(f"{file}: no such file; give a folder, a .zip, a .tar.gz or module.py:Class")
    if source.suffix not in (".py", ".pyc"):
        raise BadInput(f"{file}: is not a Python file; give module.py:Class")
    taken = plain.take(source, root)
    open_to_readers(root)
    target, _ = find_target(root, rulebook, f"{source.name}:{name}")
    requirements = source.parent / "requirements.txt"
    if wanted and asks_for_anything(requirements):
        shutil.copyfile(requirements, root / requirements.name)
    compiled = _compiled_python(root)
    return Package(
        name=f"{source.stem}:{name}",
        root=root,
        dialect="D",
        target=target,
        python=wanted or compiled,
        exact=bool(wanted or compiled),
        requirements=_requirements(root, Config()),
        digest=digest(root),
        warnings=(one_line(f"taken beside {source.name}: {', '.join(taken)}", 400),) if taken else (),
    )


def _upload(
    spec: str, rulebook: Rulebook, root: Path, upload: Path, entry: str | None, wanted: str | None, boxed: bool
) -> Package:
    source = Path(spec)
    if boxed and source.is_file():
        from bciarena.entries.reading import read_in_box

        package = read_in_box(source, rulebook, root, entry, wanted)
    else:
        package = read_upload(source, rulebook, root, upload, entry, wanted)
    mark = digest(root)
    open_to_readers(root)
    show_both_ways(root)
    return replace(package, name=_name(source), digest=mark)


def read_upload(
    source: Path, rulebook: Rulebook, root: Path, upload: Path, entry: str | None, wanted: str | None
) -> Package:
    """Copy an entry's own part into ``root`` and find out what it is; whatever a stranger wrote is read here."""
    unpacked = 0
    if source.is_file():
        upload.mkdir()
        unpacked = unpack(source, upload)
        source_folder = upload
    elif source.is_dir():
        source_folder = source
    else:
        raise BadInput(f"{source}: no such file; give a folder, a .zip, a .tar.gz, module.py:Class or @name")
    base, named = base_of(source_folder, source.name, rulebook, entry or "")
    left = take(base, root)
    said = read_config(root)
    main = base / "main.py"
    imports = _beginning(main) if main.is_file() else ""
    take_lists(base, source_folder, root, said.requirements)
    named = named or said.entry
    if named:
        plain.take_named(base, root, named)
    shutil.rmtree(upload, ignore_errors=True)
    settle_compiled(root, wanted or said.python or rulebook.python)
    warnings = list(_mismatches(said, rulebook))
    target, others = find_target(root, rulebook, named, imports)
    if others:
        warnings.append(tell("warning.others", target=target, listed=", ".join(others[:4])))
    unknown = sorted(name for name in left if name not in IGNORED and not (root / name.rstrip("/")).exists())
    if unknown:
        warnings.append(tell("warning.left", listed=", ".join(unknown[:8]) + " ..." * (len(unknown) > 8)))
    compiled = _compiled_python(root)
    requirements = _requirements(root, said)
    dialect = _dialect(said, target, rulebook)
    if dialect == "D" and compiled == HERE and requirements is None:
        compiled = None  # compiled by this platform's Python: played in it, with all that is installed
    return Package(
        name=_name(source),
        root=root,
        dialect=dialect,
        target=target,
        python=wanted or said.python or compiled,
        exact=bool(wanted or compiled),
        requirements=requirements,
        digest="",
        warnings=tuple(words.changed(lambda text: one_line(text, 400)) for words in warnings),
        unpacked=unpacked,
        contest_python=rulebook.python,
        image=said.image,
    )


def _beginning(path: Path) -> str:
    with open(path, "rb") as file:
        return file.read(MAIN_BYTES).decode("utf-8", "replace")


def _name(source: Path) -> str:
    name = source.resolve().name
    for ending in (".tar.gz", ".tgz", ".zip"):
        name = name.removesuffix(ending)
    return one_line(name, 100)


def _dialect(said: Config, target: str, rulebook: Rulebook) -> Dialect:
    if said.dialect:
        return said.dialect  # type: ignore[return-value]  # checked when read
    contest = target.startswith(("Algorithm/", "AlgorithmImplement/", "AlgorithmSystem/"))
    return rulebook.dialect if contest or target.rpartition(":")[2] in rulebook.classes else "D"


def _mismatches(said: Config, rulebook: Rulebook) -> Iterator[Told]:
    if said.challenge and said.challenge not in (rulebook.id, rulebook.name):
        yield tell("warning.challenge", its=said.challenge, book=rulebook.id)
    for chunk in said.chunks:
        if chunk != rulebook.packet_n:
            yield tell("warning.chunk", chunk=chunk, book=rulebook.id, packet=rulebook.packet_n)


def _requirements(root: Path, said: Config) -> Path | None:
    """Its list of libraries: the named one, else requirements.txt, else one of a similar name, else environment.yml."""
    if said.requirements:
        path = contained(root, said.requirements)
        if path is None:
            raise BadInput(tell("config.list_outside", file=repr(said.requirements)))
        if not path.is_file():
            raise BadInput(tell("config.list_missing", file=repr(said.requirements)))
        return path if asks_for_anything(path) else None
    folders = [folder for folder in (root, root / "Algorithm", root / "AlgorithmImplement") if folder.is_dir()]
    found = [path for folder in folders for path in sorted(folder.iterdir()) if LISTS.fullmatch(path.name)]
    found.sort(key=lambda path: (path.suffix != ".txt", path.name.lower() != "requirements.txt"))
    return next((path for path in found if asks_for_anything(path)), None)


def _compiled_python(root: Path) -> str | None:
    """The Python that made its compiled files; None without any."""
    versions = (python_of(path) for path in sorted(root.rglob("*.pyc")))
    return next((its for its in versions if not its.startswith("unknown")), None)


def _wrongly_compiled(root: Path, python: str | None) -> Iterator[str]:
    """What is wrong with its compiled files: each must be of the Python that runs it."""
    for path in sorted(path for path in root.rglob("*.pyc") if not path.is_symlink()):
        its, shown = python_of(path), path.relative_to(root)
        if its.startswith("unknown"):
            yield tell("compiled.unknown", file=shown, python=its)
        elif its != python and python is not None:
            yield tell("compiled.other", file=shown, its=its, python=python)


def digest(root: Path) -> str:
    """Over names and bytes of all files, in sorted order: the same content gives the same digest."""
    total = hashlib.sha256()
    for path in sorted(root.rglob("*"), key=lambda path: path.relative_to(root).as_posix()):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(root).as_posix().encode()
            with open(path, "rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            total.update(len(name).to_bytes(4, "big") + name + content.encode())
    return total.hexdigest()
