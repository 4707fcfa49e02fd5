"""The companion package: the folder a contestant starts from.

``arena new`` writes it: a short working sample and the platform's small files from the templates in starter/, the
contest's interface files from the classes that the server serves (contestant.faces), and the engine that plays, judges
and scores (see entries.engine). It needs nothing but numpy. Only the sample and its configuration are ever uploaded.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

from bciarena.contestant.faces import asynchronous, synchronous
from bciarena.contests import contest
from bciarena.contests.rulebook import Rulebook
from bciarena.entries.engine import write_engine
from bciarena.errors import BadInput
from bciarena.protocol import protocol_of
from bciarena.writing import wanted_folder

STARTER = Path(__file__).parents[1] / "starter"
SEED = 20
INTERFACES: dict[str, dict[str, tuple[str, ...]]] = {
    "A": {
        "Algorithm/Interface/AlgorithmInterface.py": ("AlgorithmInterface",),
        "Algorithm/Interface/Model/DataModel.py": ("DataModel",),
        "Algorithm/Interface/Model/ReportModel.py": ("ReportModel",),
        "Framework/Interface/FrameworkInterface.py": ("FrameworkInterface",),
        "Task/Interface/TaskInterface.py": ("TaskInterface",),
        "Task/Interface/TaskManagerInterface.py": ("TaskManagerInterface",),
    },
    "B": {
        "Algorithm/Interface/AlgorithmInterface.py": ("AlgorithmInterface",),
        "Algorithm/Interface/ProblemInterface.py": ("ProblemInterface",),
        "Algorithm/Interface/Model/DataModel.py": ("DataModel",),
        "Algorithm/Interface/Model/ReportModel.py": ("ReportModel",),
        "Framework/Interface/FrameworkInterface.py": ("FrameworkInterface",),
        "Task/Interface/TaskInterface.py": ("TaskManagerInterface",),  # the speller's text calls it so
    },
    "C": {
        "Algorithm/method/interface/AlgorithmInterface.py": ("AlgorithmInterface",),
        "Algorithm/method/interface/ProxyInterface.py": ("ProxyInterface",),
        "Algorithm/method/interface/SourceReceiverReaderInterface.py": ("SourceReceiverReaderInterface",),
        "Algorithm/method/interface/SourceInterface.py": ("SourceReceiverReaderInterface",),  # its other name
        "Algorithm/method/model/AlgorithmObject.py": (
            "AlgorithmDataObject",
            "AlgorithmContinuousDataObject",
            "AlgorithmDeviceObject",
            "AlgorithmResultObject",
        ),
        "Challenge/interface/ChallengeInterface.py": ("ChallengeInterface",),
        "Challenge/model/BaseModel.py": ("BaseModel", "DataModel", "ReportModel", "ResultModel"),
    },
    "D": {},
}
"""The files of the contest texts and the classes in each, by dialect."""
SHARED = {
    "A": ("common", "dialect_ab", "dialect_a"),
    "B": ("common", "dialect_ab", "dialect_b"),
    "C": ("common", "dialect_c"),
    "D": (),  # the plain dialect needs no framework around it
}


def write_starter(rulebook: Rulebook, folder: Path) -> list[str]:
    """Write the companion package of a challenge into ``folder``, new or empty; returns the names of its files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder}: exists already; choose a new folder")
    own = contest(rulebook)
    if not own.has("starter"):
        raise BadInput(f"{rulebook.id}: this contest has no companion package (no starter/ in {own.folder})")
    parts = [*(STARTER / name for name in SHARED[rulebook.dialect]), own.folder / "starter"]
    with wanted_folder(folder) as beside:
        for part in parts:
            _copy(part, beside, _words(rulebook))
        face = asynchronous if rulebook.dialect == "C" else synchronous
        for place, names in INTERFACES[rulebook.dialect].items():
            _write(beside / place, _face_file(face, names, Path(place).stem))
        if rulebook.dialect != "D":
            write_engine(beside, rulebook)
        return sorted(path.relative_to(beside).as_posix() for path in beside.rglob("*") if path.is_file())


def _words(rulebook: Rulebook) -> dict[str, str]:
    """What replaces the marks in the templates."""
    simulate = [rulebook.name, "--seed", str(SEED)]
    practice = protocol_of(rulebook.name).practice if contest(rulebook).has("protocol.py") else {}
    for option, value in practice.items():
        simulate += [f"--{'' if value else 'no-'}{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]
    return {
        "__CHALLENGE__": rulebook.name,
        "__ID__": rulebook.id,
        "__TITLE__": rulebook.title,
        "__TITLE_ZH__": rulebook.title_zh,
        "__CLASS__": rulebook.classes[0],
        "__DIALECT__": rulebook.dialect,
        "__TASK__": "TaskManager" if rulebook.dialect == "A" else "Task",
        "__PYTHON__": rulebook.python,
        "__PACKET__": str(rulebook.packet_n),
        "__SIMULATE__": repr(simulate).replace("'", '"'),
    }


def _copy(part: Path, folder: Path, words: dict[str, str]) -> None:
    for source in sorted(path for path in part.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        text = source.read_text("utf-8")
        for mark, word in words.items():
            text = text.replace(mark, word)
        text = text.replace("  # noqa: F821", "")  # a mark is not a name
        _write(folder / source.relative_to(part), text)


def _face_file(face: ModuleType, names: tuple[str, ...], stem: str) -> str:
    """A file of interface classes, each exactly as the server has it."""
    found = [getattr(face, name) for name in names]
    pieces = [inspect.getsource(one).rstrip("\n") for one in found]
    if len(names) == 1 and names[0] != stem:  # the same class under this contest's name for it
        pieces[0] = pieces[0].replace(f"class {names[0]}", f"class {stem}", 1)
    return "\n\n\n".join([f'"""{inspect.getdoc(found[0])}"""', *pieces]) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
