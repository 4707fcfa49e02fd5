"""Notebooks as pages; run as a program it plays them again and keeps what they show.

python scripts/handbook/notebooks.py docs/gallery/*.ipynb
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def pages(path: Path) -> dict[str, str]:
    """A notebook's page, its figures and itself, by file name."""
    book = json.loads(path.read_text("utf-8"))
    parts, files = [], {path.name: path.read_text("utf-8")}
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        said = printed({"cells": [cell]})
        if said:
            parts.append(f"```text\n{said.rstrip()}\n```")
        for shown in cell["outputs"]:
            data = shown.get("data", {})
            if "image/svg+xml" in data:
                name = f"{path.stem}-{len(files)}.svg"
                files[name] = "".join(data["image/svg+xml"])
                parts.append(f"![{cell['metadata']['alt']}]({name})")
    download = f"[The notebook itself]({path.name}); the tests run it and compare what it prints."
    files[f"{path.stem}.md"] = "\n\n".join([*parts, download])
    return files


def play(path: Path) -> Any:
    """The notebook run anew, in a kernel of this Python."""
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, kernel_name="python3").execute()
    for cell in book["cells"]:
        cell["metadata"].pop("execution", None)
    return book


def printed(book: Any) -> str:
    """What its cells say, in words."""
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    return "".join("".join(shown["text"]) for cell in cells for shown in cell["outputs"] if "text" in shown)


if __name__ == "__main__":
    import nbformat

    for name in sys.argv[1:]:
        nbformat.write(play(Path(name)), name)
        print(name)
