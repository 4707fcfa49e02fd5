"""What verify, backup and restore share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def steps(words: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on the terminal."""
    from bciarena.bars import progress_bar

    with progress_bar() as bar:
        task = bar.add_task(words, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
