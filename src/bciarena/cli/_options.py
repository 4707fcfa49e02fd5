"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Image = Annotated[
    str | None, typer.Option("--image", metavar="NAME", help="Libraries of a contest year, e.g. wrc2022-py3.8.")
]
Requirements = Annotated[
    Path | None,
    typer.Option("--requirements", metavar="FILE", help="A list of libraries in addition to the entry's own."),
]
