"""What arena run and arena train share: checks of the options, and progress display."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from bciarena.cli._say import say
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.match import Progress
from bciarena.plaintext import clean
from bciarena.processes import LINUX
from bciarena.referee.desk import Clock
from bciarena.runs.result import Result

Sandbox = Literal["bwrap", "none"]
LOUD = "arena: WARNING: --sandbox none: the entry runs with your rights and sees your files; its run is unsandboxed"


class checked:
    """Each returns the value, or says what is wrong with it."""

    @staticmethod
    def challenge(entry: str, given: str | None) -> str:
        if given:
            return given
        if entry.startswith("@"):
            from bciarena.entries import reference

            return reference.find(entry).challenge
        raise BadInput("--challenge is missing: say which rules to play by (arena challenges lists them)")

    @staticmethod
    def sandbox(given: str) -> Sandbox:
        if given == "none":
            say(LOUD, err=True)
            return "none"
        if given == "bwrap":
            if not LINUX:
                raise BadInput(
                    "entries are boxed on Linux only; here --sandbox none plays a module.py:Class in this process, and "
                    "python main.py a companion package (docs/systems.md)"
                )
            return "bwrap"
        raise BadInput(f"--sandbox {given}: choose bwrap or none")

    @staticmethod
    def clock(given: str) -> Clock:
        if given == "think":
            return "think"
        if given == "data":
            return "data"
        raise BadInput(f"--clock {given}: choose think or data")


@contextmanager
def wrapped(spec: str, book: Rulebook, train: Path | None, box: Sandbox) -> Iterator[str]:
    """What to play: the entry as it was named or, of a pipeline.yml, the entry that it becomes by training."""
    if not spec.endswith((".yml", ".yaml")):
        if train is not None:
            raise BadInput(f"--train is for a pipeline.yml; train {spec} with arena train, or arena wrap")
        yield spec
        return
    from bciarena.scratch import scratch
    from bciarena.wrapping.making import Options, wrap

    if train is None:
        raise BadInput(f"{spec}: a pipeline must be trained first: --train DIR")
    with scratch() as work:
        wrap(spec, book, train, work / "entry", Options(), sandbox=box)
        yield str(work / "entry")


def told_first(notes: Sequence[str]) -> list[str]:
    """Notes on the whole run before those on single reports, of which there can be thousands."""
    return sorted(notes, key=lambda note: note.startswith("report at "))


def shown_live() -> Callable[[bytes], str]:
    """Decodes what an entry prints into text that is safe on a terminal, a bar before every line as in ``quoted``.

    A carriage return ends a line.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    begun = False  # a line whose end has not come yet

    def show(raw: bytes) -> str:
        nonlocal begun
        text = clean(decoder.decode(raw).replace("\r\n", "\n").replace("\r", "\n"))
        if not text:
            return ""
        lines = text.split("\n")
        barred = [
            line if (n == 0 and begun) or (n == len(lines) - 1 and not line) else f"| {line}"
            for n, line in enumerate(lines)
        ]
        begun = bool(lines[-1]) or (begun and len(lines) == 1)
        return "\n".join(barred)

    return show


def told(result: Result) -> str:
    """The line that explains a score, in the reader's language."""
    import bciarena
    from bciarena.summary import ENGLISH, summary, tally
    from bciarena.words import read_words, reader_language

    words = read_words(Path(bciarena.__file__).parent)[reader_language()].get("summary", ENGLISH)
    return summary(result.tally or tally(result), words)


@contextmanager
def progress(what: str) -> Iterator[Callable[[Progress], None]]:
    """A bar on stderr that shows a match's progress; nothing where stderr is not a terminal."""
    from bciarena.bars import progress_bar

    with progress_bar() as bar:
        task = bar.add_task(what, total=None)

        def show(now: Progress) -> None:
            trial = f" trial {now.trial}" if now.trial else ""
            at = f"subject {now.subject} block {now.block}{trial}, {now.reports} reports"
            bar.update(task, total=now.total_packets, completed=now.packets, description=f"{what}: {at}")

        yield show
