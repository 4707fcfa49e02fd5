"""Five rulebooks: rules as data with the clause of the contest text beside each field.

>>> rulebook("imagery").limit_s
4.0
"""

from bciarena.challenges import imagery, liveness, rehab, speller, turing
from bciarena.challenges.rulebook import Rulebook
from bciarena.challenges.trial import Trial, TrialSpan
from bciarena.errors import BadInput

RULEBOOKS: dict[str, Rulebook] = {
    book.id: book for book in (turing.RULEBOOK, imagery.RULEBOOK, speller.RULEBOOK, liveness.RULEBOOK, rehab.RULEBOOK)
}
"""Every rulebook by its versioned id. A changed reading is a new id, never an edit."""


def rulebook(name: str) -> Rulebook:
    """The rulebook of an id with or without its version: ``imagery/1``, or ``imagery`` for the newest."""
    if name in RULEBOOKS:
        return RULEBOOKS[name]
    newest = [book for book in RULEBOOKS.values() if book.name == name]
    if not newest:
        raise BadInput(f"unknown challenge {name!r}: choose one of {', '.join(RULEBOOKS)}")
    return max(newest, key=lambda book: int(book.id.split("/")[1]))


__all__ = ["RULEBOOKS", "Rulebook", "Trial", "TrialSpan", "rulebook"]
