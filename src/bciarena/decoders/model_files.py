"""A trained model as plain files: JSON about it, and the arrays of each person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bciarena.errors import BadInput


def write_model(folder: str | Path, name: str, about: dict[str, Any], people: Mapping[int, object]) -> None:
    """Write ``about`` to NAME.json and the fields of each person, all arrays, to person_N.npz."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    words = json.dumps({**about, "people": sorted(people)}, indent=1)
    (folder / f"{name}.json").write_text(words, "utf-8")
    for n, person in people.items():
        np.savez(folder / f"person_{n}.npz", **vars(person))


def read_model(folder: str | Path, name: str) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    """What :func:`write_model` wrote: about the model, and the fields of each person."""
    folder = Path(folder)
    try:
        about: dict[str, Any] = json.loads((folder / f"{name}.json").read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{folder}: no trained model there ({name}.json); run `arena train` first") from None
    people = {}
    for n in about["people"]:
        with np.load(folder / f"person_{n}.npz") as kept:
            people[n] = {field: kept[field] for field in kept.files}
    return about, people
