"""Trains an entry inside the box.

Tried in this order: ``train.py`` in the package with ``train(data, out)``; a class with ``fit(recordings)``; an
estimator with ``fit(X, y)``, X of shape (trials, channels, samples) and y in the vocabulary of the answers (0:
nothing there). A class with ``save(folder)`` and ``load(folder)`` stores itself; any other is pickled, and unpickled
only in the box.
"""

import importlib
import inspect
import os
import pickle
import sys

from . import names
from .loading import construct, load_class

INSTANCE = "instance.pkl"
REFUSED = 65  # exit code: the data is at fault, as explained in REASON
REASON = "refused.txt"
NOTHING = 66  # exit code: the class has nothing to train


def train(order):
    """Exit code of the training."""
    root, data, out = order["root"], order["train"]["data"], order["train"]["out"]
    if os.path.isfile(os.path.join(root, "train.py")) or os.path.isfile(os.path.join(root, "train.pyc")):
        names.install(root, order["dialect"])
        sys.path.insert(0, root)
        importlib.import_module("train").train(data, out)
        return 0
    entry = construct(load_class(root, order["target"], order["dialect"]))
    if not hasattr(entry, "fit"):
        return NOTHING
    learn(entry, data, order["info"])
    if hasattr(entry, "save"):
        entry.save(out)
    else:
        with open(os.path.join(out, INSTANCE), "wb") as file:
            pickle.dump(entry, file, protocol=4)
    return 0


def refuse(error, out):
    """Whether the entry raised our BadInput, which blames the data and not the entry; its words are written down."""
    kind = type(error)
    if (kind.__module__, kind.__name__) != ("bciarena.errors", "BadInput"):
        return False
    with open(os.path.join(out, REASON), "w", encoding="utf-8") as file:
        file.write(str(error))
    return True


def learn(entry, data, info):
    """Call ``fit`` with the parameters it takes."""
    from .recordings import open_blocks
    from .windows import cut_windows

    blocks = open_blocks(data)
    if takes_labels(entry.fit):
        entry.fit(*cut_windows(entry, blocks, info))
    else:
        entry.fit(blocks)


def takes_labels(fit):
    """Whether ``fit`` is the estimator's fit(X, y) rather than fit(recordings)."""
    parameters = list(inspect.signature(fit).parameters.values())
    required = [
        p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return len(required) > 1 or any(p.name == "y" for p in parameters)


def load_model(found, folder):
    """The trained entry's object."""
    entry = construct(found)
    if hasattr(entry, "load"):
        loaded = entry.load(folder)
        return entry if loaded is None else loaded
    path = os.path.join(folder, INSTANCE)
    if not os.path.isfile(path):
        raise ImportError("the model folder has no %s, and the class has no load(folder)" % INSTANCE)
    with open(path, "rb") as file:
        return pickle.load(file)
