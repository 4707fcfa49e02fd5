"""Other people's readers in a process of their own: a damaged file may crash them, or keep them busy for ever.

The process is kept for the next file. What it read comes back as a pickle that `read_pickle` takes as data, large
arrays as memory maps: even a reader that a file has taken over can say nothing here but numbers and words.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bciarena.errors import BadInput, Fault
from bciarena.processes import own_environment, own_python
from bciarena.recording.pickles import read_pickle

LEAST_S, S_PER_MB = 60.0, 1.0
LEAST_BYTES, TIMES_SIZE = 4 << 30, 64  # of memory; a compressed file takes more than its size


class _Reader:
    """The reading process; only the process that started it uses it, since a fork must not share its pipes."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            own_python("bciarena.recording.reading"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=own_environment(),
        )

    def ask(self, order: dict[str, Any], wait_s: float) -> dict[str, Any] | None:
        """Its reply; None if it takes longer than ``wait_s``. EOFError if it died."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(order).encode() + b"\n")
        stdin.flush()
        if not select.select([stdout], [], [], wait_s)[0]:
            return None
        line = stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        reply: dict[str, Any] = json.loads(line)
        return reply

    def end(self) -> int:
        self.process.kill()
        code = self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        return code


_lock = threading.Lock()
_reader: _Reader | None = None


@atexit.register
def _end() -> None:
    if _reader is not None and _reader.owner == os.getpid():
        _reader.end()


def read_apart(function: Callable[[Path], Any], path: Path) -> Any:
    """Call ``function(path)``, ours, around somebody else's reader; BadInput if the reader did not survive the file.

    It must return plain values and numeric arrays.
    """
    global _reader
    size = path.stat().st_size
    with _lock, tempfile.TemporaryDirectory(prefix="arena-read-") as folder:
        if _reader is None or _reader.owner != os.getpid() or _reader.process.poll() is not None:
            _reader = _Reader()
        out = Path(folder) / "read"
        order = {
            "module": function.__module__,
            "function": function.__name__,
            "path": str(path),
            "folder": os.getcwd(),
            "out": str(out),
            "bytes": LEAST_BYTES + TIMES_SIZE * size,
        }
        wait_s = LEAST_S + S_PER_MB * size / 1e6
        try:
            reply = _reader.ask(order, wait_s)
        except (EOFError, BrokenPipeError):
            code, _reader = _reader.end(), None
            raise BadInput(
                f"{path}: the library that reads such files crashed on it (code {code}); is it damaged?"
            ) from None
        except BaseException:  # Ctrl-C: the reply that is still to come belongs to nobody
            _reader.end()
            _reader = None
            raise
        if reply is None:
            _reader.end()
            _reader = None
            raise BadInput(f"{path}: not read within {wait_s:.0f} s; is it damaged?")
        if "wrong" in reply:
            raise BadInput(reply["wrong"])
        if "fault" in reply:
            raise Fault(reply["fault"])
        return read_pickle(out)
