"""From a target (file and class, relative to the package root) to the entry's object."""

import importlib
import os
import sys

from . import names


def load_class(root, target, dialect):
    """Import the entry's class. The package root is the working directory and first on sys.path.

    Dialect A and B: imported by its dotted name below the root. C and D: the file's folder is on sys.path and the
    module is imported by its bare name.
    """
    path, _, name = target.rpartition(":")
    folder, file = os.path.split(path)
    stem = file.rpartition(".")[0]
    where = os.path.join(root, folder) if folder else root
    names.install(root, dialect)
    if dialect in "CD":
        sys.path[:0] = [where] if where == root else [where, root]
        module = importlib.import_module(stem)
    else:
        sys.path.insert(0, root)
        sys.path.append(where)  # some import their neighbours by bare name
        module = importlib.import_module(".".join(folder.split(os.sep) + [stem]) if folder else stem)
    for part in name.split("."):
        try:
            module = getattr(module, part)
        except AttributeError:
            raise ImportError("%s has no class %s" % (path, name)) from None
    return module


def construct(found):
    """An instance, made without arguments; anything but a class is used as it is."""
    return found() if isinstance(found, type) else found
