"""Cutting a match by subject into shards; joining.py turns their runs into the ledger of a single run.

A shard hands out its subject exactly as the whole recording would: the same numbers and positions, and no finish flag
but at the very end. When the entry asks for the packet after a shard's last one, it is ended there without noticing.
For an entry that carries something over from one subject to the next (adapts, counts, draws random numbers from one
generator) the shards are a different experiment, so whoever queues the match decides whether to cut it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from bciarena.contests import rulebook as find_rulebook
from bciarena.errors import BadInput
from bciarena.jobs.model import Job
from bciarena.jobs.queue import enqueue


def enqueue_match(session: Session, payload: dict[str, Any], *, subjects: int = 1, **options: Any) -> Job:
    """Queue a match, cut into one shard per subject when ``subjects`` (how many the data has) is above 1.

    Returns the job whose result is the match's: the match itself, or the join that waits for the shards.
    """
    if subjects <= 1:
        return enqueue(session, "match", payload, **options)
    book = find_rulebook(payload["challenge"])
    if book.shard != "subject":
        raise BadInput(f"{book.id}: its matches cannot be cut by subject ({book.clauses['shard']})")
    if payload.get("calibration", {}).get("sets"):
        raise BadInput("a match whose entry is trained first cannot be cut by subject: each part would train again")
    key = options.pop("key", None)
    join = enqueue(session, "join", payload, key=key, **options)
    for subject in range(1, subjects + 1):
        enqueue(
            session,
            "match",
            {**payload, "subject": subject},
            key=f"{key or f'join {join.id}'}, subject {subject}",
            parent=join.id,
            **options,
        )
    return join
