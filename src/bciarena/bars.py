"""The progress bar."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from bciarena.words import shown

SOON_S = 2.0
"""What takes longer says so, also where there is no terminal."""


class _Words(TextColumn):
    """What is being done, in the reader's language."""

    def render(self, task: Task) -> Text:
        return Text(shown(task.description))


def progress_bar(stays: bool = False) -> Progress:
    """A bar on standard error: what is done, how much of it, how long it took and may take.

    Parameters
    ----------
    stays : bool
        Whether it remains visible at the end. One that does not is silent where there is no terminal.
    """
    console = Console(stderr=True)
    return Progress(
        _Words(""),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=not stays,
        disable=not stays and not console.is_terminal,
    )


@contextmanager
def working(words: str) -> Iterator[Callable[..., None]]:
    """A bar for work whose length may be unknown: call what it yields with new words, or how much is done of how much.

    Where there is no terminal, one line says after two seconds that something is going on.
    """
    with progress_bar() as bar:
        task = bar.add_task(words, total=None)
        late = threading.Timer(
            SOON_S, lambda: bar.console.print(f"{shown(bar.tasks[0].description)} ...", highlight=False, markup=False)
        )
        late.daemon = True
        if bar.disable:
            late.start()

        def tell(text: str | None = None, done: float | None = None, total: float | None = None) -> None:
            bar.update(task, description=words if text is None else text, completed=done, total=total)

        try:
            yield tell
        finally:
            late.cancel()
