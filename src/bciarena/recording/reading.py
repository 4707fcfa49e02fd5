"""The process that `apart` starts: reads the files it is named, one after another."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = order["bytes"] if hard == resource.RLIM_INFINITY else min(order["bytes"], hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    os.chdir(order["folder"])
    path = Path(order["path"])
    try:
        content = getattr(importlib.import_module(order["module"]), order["function"])(path)
    except BadInput as error:
        return {"wrong": str(error)}
    except MemoryError:
        return {"wrong": f"{path}: reading it takes more memory than any sound file of its size; is it damaged?"}
    except Exception as error:  # a damaged file can make a reader raise anything
        return {"wrong": f"{path}: cannot be read ({type(error).__name__}: {error})"}
    try:
        with open(order["out"], "wb") as file:
            pickle.dump(content, file, protocol=4)
    except OSError as error:
        return {"fault": f"{order['out']}: {error.strerror}"}
    return {}


def main() -> None:
    """Serve until the owner closes the pipe."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no reply
    for line in sys.stdin.buffer:
        replies.write(json.dumps(_answer(json.loads(line))).encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    main()
