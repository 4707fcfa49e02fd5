"""What happens to a stream, said to whoever listens: English in the terminal and the recording, their own on pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bciarena.words import Said, speaker

NOTE = speaker(Path(__file__).parent, "notes")


def told(kind: str, text: str) -> dict[str, Any]:
    """A sentence as a message to the lab's hub, in every language it knows."""
    return {"type": kind, "text": str(text)} | ({"texts": dict(text.every)} if isinstance(text, Said) else {})
