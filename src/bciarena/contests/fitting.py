"""Whether a training folder belongs to a challenge: format and codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.spans import check_form
from bciarena.errors import BadInput
from bciarena.recording.model import Recording

STRUCTURE = 240
"""Codes from here on mark the course of an experiment in every contest."""


def check_fits(rulebook: Rulebook, sets: Mapping[str, Recording], where: str, others: Mapping[str, Rulebook]) -> None:
    """Refuse a folder whose channels, rate or codes are not the challenge's; BadInput says which, and whose they are.

    ``others`` are the challenges it may belong to instead.
    """
    truth = rulebook.opens | rulebook.forbidden  # training sets may hold what scored data must not (R21)
    known = truth | rulebook.masked
    for name, recording in sets.items():
        check_form(rulebook, recording)
        codes = Counter(event.code for _, _, block in recording for event in block.events if event.code < STRUCTURE)
        shown = f"{where}/{name}" if name else where
        strange = Counter({code: count for code, count in codes.items() if code not in known})
        blank = [code for code in codes if code in rulebook.masked]
        if codes and not any(code in truth for code in codes) and not blank:
            raise BadInput(
                f"{shown}: none of its codes ({_listed(strange)}) is one of {rulebook.id}{_whose(codes, others)}"
            )
        if blank and any(code in rulebook.opens for code in codes):
            raise BadInput(
                f"{shown}: its codes are not those of {rulebook.id}: {_listed(blank)} would stand where the truth was "
                f"taken out, but others name it{_whose(codes, others)}"
            )


def _listed(codes: list[int] | Counter[int]) -> str:
    ordered = sorted(codes)
    shown = ", ".join(map(str, ordered[:6]))
    return f"{shown} ..." if len(ordered) > 6 else shown


def _whose(codes: Counter[int], others: Mapping[str, Rulebook]) -> str:
    fit = [book.name for book in others.values() if all(code in book.opens | book.idle for code in codes)]
    return f"; they fit {' or '.join(dict.fromkeys(fit))}" if fit else ""
