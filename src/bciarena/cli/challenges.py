"""arena challenges."""

from __future__ import annotations

from typing import Annotated

import typer

from bciarena.cli._options import AsJson
from bciarena.cli._say import give, say


def main(
    as_json: AsJson = False,
    markdown: Annotated[bool, typer.Option(help="The whole rules page, clause by clause.")] = False,
) -> None:
    """The five rulebooks: id, channels, rate, packet, classes, limits."""
    from bciarena.contests import RULEBOOKS
    from bciarena.contests.page import rules_page

    if markdown:
        print(rules_page(), end="")
        return
    rows = [
        {
            "id": book.id,
            "title": book.title,
            "title_zh": book.title_zh,
            "channels": len(book.channels),
            "channel_names": list(book.channels),
            "rate": book.rate,
            "packet_n": book.packet_n,
            "classes": dict(book.vocabulary),
            "limit_s": book.limit_s,
            "missing_s": book.missing_s,
            "floor_s": book.floor_s,
            "unit": book.unit,
            "dialect": book.dialect,
            "python": book.python,
            "digest": book.digest,
        }
        for book in RULEBOOKS.values()
    ]
    if as_json:
        give(rows)
        return
    for book in RULEBOOKS.values():
        limit = f"below {book.limit_s:g} s" if book.limit_s else f"until its code {book.closing}"
        say(f"{book.id:<11} {book.title} / {book.title_zh}")
        say(f"{'':<11} {len(book.channels)} channels + trigger, {book.rate} Hz, packets of {book.packet_n} samples")
        say(f"{'':<11} {len(book.vocabulary)} answers, {limit}, scored in {book.unit}")
        say(f"{'':<11} contest interface {book.dialect}, contest Python {book.python}")
