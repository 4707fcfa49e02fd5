"""An experiment to be watched: a virtual subject, decoded live, in one command."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from bciarena.contests import rulebook
from bciarena.errors import BadInput
from bciarena.protocol import protocol_of
from bciarena.session.plan import read_plan
from bciarena.session.running import run_session

PLAN = """
challenge = "{challenge}"
subject = {subject}
seed = {seed}
out = "out"
stream = "demo-{process}"
language = "{language}"
lost_ms = 1e6
repeat_void = false
sandbox = "{sandbox}"
[[part]]
split = "{split}"
blocks = {blocks}
entry = "{entry}"
options = {{ {options} }}
"""
BLOCKS = 50  # shown one after another, until it is stopped


def run_demo(
    challenge: str,
    *,
    language: str,
    sandbox: str,
    host: str,
    port: int,
    stop: threading.Event,
    say: Callable[[str], None],
) -> None:
    """Play until stopped; nothing is kept."""
    book, own = rulebook(challenge), protocol_of(challenge)
    if not own.demo:
        raise BadInput(f"--demo: {book.name} has none; arena session run PLAN.toml --virtual plays any experiment")
    options = ", ".join(f"{name} = {_toml(value)}" for name, value in own.demo["options"].items())
    with tempfile.TemporaryDirectory(prefix="arena-demo-") as folder:
        path = Path(folder) / "plan.toml"
        path.write_text(
            PLAN.format(
                challenge=book.id, subject=own.demo["subject"], seed=own.demo["seed"], process=os.getpid(),
                language=language, sandbox=sandbox, split=own.scored, blocks=list(range(1, BLOCKS + 1)),
                entry=own.demo["entry"], options=options,
            ),
            "utf-8",
        )  # fmt: skip
        try:
            run_session(read_plan(path), virtual=True, host=host, port=port, stop=stop, say=say)
        except KeyboardInterrupt:
            say("the demo is over")


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'
