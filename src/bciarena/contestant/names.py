"""Makes the contests' module names resolve, whether or not an entry brings its own copies of the interface files.

An entry's own file always comes first: this finder is at the end of sys.meta_path and is asked only for what nothing
else provides. It serves the framework's modules by their last name, wherever under the framework's roots they are
imported from, because the contests moved them around from year to year.
"""

import importlib.abc
import importlib.machinery
import os
import sys

from .faces import asynchronous, streamed, synchronous

ROOTS = ("Algorithm", "AlgorithmImplement", "AlgorithmSystem", "Framework", "Task", "Challenge")
FOLDERS = ("Interface", "Model", "interface", "model", "method", "impl", "framework", "challenge", "algorithm")
STREAMED = ("benchmark_utils", "compet_core")
"""What submissions to streamed competitions import from."""
SYNCHRONOUS = (
    "DataModel",
    "ReportModel",
    "AlgorithmInterface",
    "TaskInterface",
    "TaskManagerInterface",
    "ProblemInterface",
    "FrameworkInterface",
)
ASYNCHRONOUS = (
    "AlgorithmObject",
    "AlgorithmInterface",
    "ProxyInterface",
    "SourceReceiverReaderInterface",
    "SourceInterface",
    "ChallengeInterface",
    "BaseModel",
    "DataModel",
    "ReportModel",
    "ResultModel",
)


class FrameworkFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the framework's modules for the entry in the folder ``root``."""

    def __init__(self, root, dialect):
        self.root = root
        self.face = asynchronous if dialect == "C" else synchronous
        self.modules = ASYNCHRONOUS if dialect == "C" else SYNCHRONOUS

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        if parts[0] in STREAMED and (len(parts) == 1 or parts[1:] in (["base_solver"], ["data"])):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=len(parts) == 1)
        if parts[0] not in ROOTS:
            return None
        if len(parts) > 1 and parts[-1] in self.modules:
            return importlib.machinery.ModuleSpec(fullname, self)
        if len(parts) == 1 or parts[-1] in FOLDERS:
            spec = importlib.machinery.ModuleSpec(fullname, self, is_package=True)
            packed = os.path.join(self.root, "AlgorithmImplement")
            if fullname == "Algorithm" and os.path.isdir(packed):  # the texts' packing renames the folder
                spec.submodule_search_locations = [packed]
            elif fullname == "AlgorithmSystem":  # packed without it: its content is in the root
                spec.submodule_search_locations = [self.root]
            return spec
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__spec__.submodule_search_locations is None:
            face = streamed if module.__name__.split(".")[0] in STREAMED else self.face
            public = {name: value for name, value in vars(face).items() if not name.startswith("_")}
            vars(module).update(public)


def install(root, dialect):
    sys.meta_path.append(FrameworkFinder(root, dialect))


def shared_class(name, module_name, ours):
    """The class an entry knows as ``name``: its own copy if it loaded one, else ours.

    So the objects handed to an entry are of the very class it imported. Where it imported several copies, under
    several names of one folder, they are of a class that is all of them.
    """
    found = []
    for full, module in list(sys.modules.items()):
        if full.rpartition(".")[2] == module_name and full.partition(".")[0] in ROOTS:
            own = getattr(module, name, None)
            if isinstance(own, type) and own not in found:
                found.append(own)
    if len(found) < 2:
        return found[0] if found else ours
    try:
        return type(name, tuple(found), {})
    except TypeError:  # copies that cannot be joined (__slots__, one derived from another)
        return found[0]
