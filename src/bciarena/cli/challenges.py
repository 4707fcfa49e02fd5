"""arena challenges."""

from __future__ import annotations

from typing import Annotated

import typer


def main(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    markdown: Annotated[bool, typer.Option(help="The whole rules page, clause by clause.")] = False,
) -> None:
    """The five rulebooks: id, channels, rate, packet, classes, limits."""
    from bciarena.contests import RULEBOOKS
    from bciarena.contests.page import rules_page
    from bciarena.plaintext import json_text

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
        print(json_text(rows))
        return
    for book in RULEBOOKS.values():
        limit = f"below {book.limit_s:g} s" if book.limit_s else f"until its code {book.closing}"
        print(f"{book.id:<11} {book.title} / {book.title_zh}")
        print(f"{'':<11} {len(book.channels)} channels + trigger, {book.rate} Hz, packets of {book.packet_n} samples")
        print(f"{'':<11} {len(book.vocabulary)} answers, {limit}, scored in {book.unit}")
        print(f"{'':<11} contest interface {book.dialect}, contest Python {book.python}")
