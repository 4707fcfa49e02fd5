"""The progress bar."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def progress_bar(stays: bool = False) -> Progress:
    """A bar on standard error: what is done, how much of it, how long it took and may take.

    Parameters
    ----------
    stays : bool
        Whether it remains visible at the end. One that does not is silent where there is no terminal.
    """
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=not stays,
        disable=not stays and not console.is_terminal,
    )
