"""A local worker's child process: takes jobs on its standard input, one JSON line each, and answers on its output.

It dies with its worker, even when that was killed. Started as ``python -m bciarena.jobs.child``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import asdict
from typing import Any

from bciarena.processes import dies_with


def main(worker: int) -> None:
    dies_with(worker, signal.SIGKILL)()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Ctrl-C, or a service manager that signals the whole tree: the worker handles it. Not SIG_IGN, which
        # entries would inherit.
        signal.signal(number, lambda *_: None)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not mix with the answers

    from bciarena.jobs.lease import Lease
    from bciarena.jobs.perform import perform
    from bciarena.jobs.storage import Storage

    storage = Storage(store=os.environ.get("ARENA_STORE") or None)

    def answer(**line: Any) -> None:
        answers.write(json.dumps(line) + "\n")
        answers.flush()

    answer(ready=True)
    for line in sys.stdin:
        outcome = perform(Lease(**json.loads(line)), storage, lambda progress: answer(progress=progress))
        answer(outcome=asdict(outcome))


if __name__ == "__main__":
    main(int(sys.argv[1]))
