"""What verify, backup and restore share: where the site is, and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[Path | None, typer.Option(help="Folder of the site; default: ARENA_HOME or this user's.")]
Database = Annotated[str | None, typer.Option(help="URL of the site's database.")]
Stored = Annotated[str | None, typer.Option(help="Folder or fsspec URL of the site's files.")]


@contextmanager
def steps(words: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on the terminal."""
    from bciarena.bars import progress_bar

    with progress_bar() as bar:
        task = bar.add_task(words, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
