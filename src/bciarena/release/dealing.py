"""The plan of a release: which block goes into which set, and what the card says where the text has other numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.protocol import protocol_of
from bciarena.recording.model import Block, Recording, Subject
from bciarena.release.part import Role, release_of


@dataclass(frozen=True)
class Part:
    """One set of a release: people numbered anew from S01, so that nobody's name goes out."""

    name: str
    role: Role
    subjects: tuple[Subject, ...]

    @property
    def recording(self) -> Recording:
        return Recording(self.subjects)


def roles(book: Rulebook, hidden: tuple[str, ...]) -> dict[str, Role]:
    """The contest's sets; ``hidden`` ones are not given out."""
    known: dict[str, Role] = dict(release_of(book).sets)
    for name in hidden:
        known[_known(book, known, name)] = "hidden"
    return known


def dealt(
    book: Rulebook, found: Mapping[str, Recording], counts: Mapping[str, int], one_set: str | None,
    hidden: tuple[str, ...] = (),
) -> tuple[list[Part], list[str]]:  # fmt: skip
    """The sets of a release, and notes.

    Sets that the source names are taken as they are. Otherwise each person's blocks are dealt out in order, as many as
    the text says or ``counts``; whatever does not fit these numbers becomes the scored set as a whole, because nothing
    unmasked must go out by mistake.
    """
    known = roles(book, hidden)
    if set(found) != {""}:
        strange = [name for name in found if name not in known]
        if strange:
            raise BadInput(f"{strange[0]}: {book.id} has no such set; it has {', '.join(known)}")
        return [Part(name, known[name], _numbered(found[name])) for name in known if name in found], []
    whole = found[""]
    if one_set is not None:
        return [Part(_known(book, known, one_set), known[one_set], _numbered(whole))], []
    for name in counts:
        _known(book, known, name)
    splits = protocol_of(book).splits
    shares = {name: counts.get(name, splits[name].blocks if not counts else 0) for name in known}
    total = sum(shares.values())
    if all(len(subject.blocks) == total for subject in whole.subjects):
        return _cut(shares, known, whole), []
    said = " + ".join(f"{name} {count}" for name, count in shares.items())
    odd = next(subject for subject in whole.subjects if len(subject.blocks) != total)
    if counts:
        raise BadInput(f"{odd.name}: has {len(odd.blocks)} blocks, not {total} ({said})")
    scored = next(name for name, role in known.items() if role == "scored")
    note = f"{odd.name} has {len(odd.blocks)} blocks, not {said}: all blocks are in the set {scored}"
    return [Part(scored, "scored", _numbered(whole))], [note] if len(known) > 1 else []


def _cut(shares: Mapping[str, int], known: Mapping[str, Role], whole: Recording) -> list[Part]:
    parts, first = [], 0
    for name, count in shares.items():
        people = [Subject(one.name, one.blocks[first : first + count]) for one in whole.subjects]
        if count:
            parts.append(Part(name, known[name], _numbered(Recording(tuple(people)))))
        first += count
    return parts


def _numbered(recording: Recording) -> tuple[Subject, ...]:
    return tuple(Subject(f"S{number:02d}", one.blocks) for number, one in enumerate(recording.subjects, 1))


def _known(book: Rulebook, known: Mapping[str, Role], name: str) -> str:
    if name not in known:
        raise BadInput(f"{name}: {book.id} has no such set; it has {', '.join(known)}")
    return name


def public_block(book: Rulebook, block: Block, role: Role) -> Block | None:
    """A block as contestants get it: masked as the stream masks it where it is scored, None where it stays hidden."""
    if role == "hidden":
        return None
    if role == "train":
        return block
    shown = {at: why for at, why in block.invalid.items() if book.mask[int(block.trigger[at])]}
    return Block(block.eeg, book.masked_trigger(block.trigger), block.rate, block.channels, block.source, shown)
