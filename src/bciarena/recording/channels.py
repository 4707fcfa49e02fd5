"""Names of electrodes: which of a file's or stream's channels is which of a contest's."""

from __future__ import annotations

from bciarena.errors import BadInput
from bciarena.recording.montages import NOT_SCALP

SYNONYMS = {
    "t3": "t7", "t4": "t8", "t5": "p7", "t6": "p8",  # the 10-20 system's names before 1991
    "m1": "a1", "m2": "a2",  # mastoids and ear lobes
    "cb1": "po9", "cb2": "po10",  # two electrodes of some caps, below O1 and O2
    "heogr": "heor", "heogl": "heol", "veogu": "veou", "veogl": "veol",
}  # fmt: skip
"""Other names of electrodes, as `plain_name` writes them, and the name they stand for."""


def plain_name(name: str) -> str:
    """A channel's name without case, dots, a leading EEG and a reference behind a hyphen: "EEG Fp1-REF" is fp1."""
    return name.casefold().strip(". ").removeprefix("eeg ").split("-")[0].strip(". ")


def find_rows(wanted: tuple[str, ...], found: tuple[str, ...]) -> dict[str, int]:
    """Where each wanted channel stands among those found: by its own name, else by a name that means the same."""
    own = {plain_name(name): row for row, name in reversed(list(enumerate(found)))}
    other: dict[str, int] = {}
    for name, row in own.items():
        other.setdefault(SYNONYMS.get(name, name), row)
    places = {}
    for name in wanted:
        bare = plain_name(name)
        row = own.get(bare, other.get(SYNONYMS.get(bare, bare), -1))
        if row >= 0:
            places[name] = row
    return places


WHOLE_CAP = 16
"""With fewer electrodes than this there is no whole cap whose average could be taken."""
NO_BRAIN = frozenset(plain_name(name) for name in NOT_SCALP) | {"heo", "veo", "emg", "aux", "eog", "trigger", "status"}


def cap_rows(names: tuple[str, ...]) -> list[int]:
    """Rows of electrodes on the head."""
    return [row for row, name in enumerate(names) if plain_name(name).rstrip("0123456789") not in NO_BRAIN]


def wire_map(text: str) -> dict[str, str]:
    """A map of channels from the command line, ours to theirs: ``Fz=E12,T7=T3,A1=``; A1 has no electrode."""
    names = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        ours, equals, theirs = pair.partition("=")
        if not equals or not ours.strip():
            raise BadInput(f"--map {pair}: expected CHANNEL=ITS NAME THERE, e.g. Fz=E12; A1= where there is none")
        names[ours.strip()] = theirs.strip()
    return names
