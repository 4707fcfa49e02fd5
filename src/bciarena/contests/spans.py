"""Where the trials of a block are, by the rules: pure arithmetic on codes and packet boundaries."""

from __future__ import annotations

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import TrialSpan
from bciarena.errors import BadInput
from bciarena.recording.model import Block, Recording


def packet_end(rulebook: Rulebook, sample: int, samples: int) -> int:
    """End of the packet that holds a sample; the block's last packet may be short, never empty (R4)."""
    return min((sample // rulebook.packet_n + 1) * rulebook.packet_n, samples)


def trial_spans(rulebook: Rulebook, block: Block) -> tuple[TrialSpan, ...]:
    """The trials of a block with truth; raises BadInput when the truth is missing or masked."""
    opened = [event for event in block.events if event.code in rulebook.opens]
    masked = [event for event in block.events if event.code in rulebook.masked]
    if masked:
        raise BadInput(
            f"{block.source}: field data: code {masked[0].code} at sample {masked[0].sample} stands where the truth "
            f"was taken out; scoring {rulebook.id} needs the recording with its truth"
        )
    wrong = next((event for event in block.events if event.code in rulebook.forbidden), None)
    if wrong is not None:
        raise BadInput(
            f"{block.source}: field data: code {wrong.code} at sample {wrong.sample} is reserved by {rulebook.id} and "
            "must not occur in scored data (R21)"
        )
    if not opened:
        raise BadInput(
            f"{block.source}: field data: no trial in this block: none of its codes opens a {rulebook.id} trial "
            "(is the truth masked?)"
        )
    closings = [event.sample for event in block.events if event.code == rulebook.closing]
    starts = [packet_end(rulebook, event.sample, block.samples) for event in opened]
    spans = []
    for index, event in enumerate(opened):
        last = index + 1 == len(opened)
        closed = closed_end = None
        if rulebook.closing is not None:
            border = block.samples if last else opened[index + 1].sample
            closed = next((sample for sample in closings if event.sample < sample < border), None)
            if closed is None and event.sample not in block.invalid:
                raise BadInput(
                    f"{block.source}: field data: trial {index + 1}, opened by code {event.code} at sample "
                    f"{event.sample}, has no {rulebook.closing} before the next trial"
                )
            closed_end = None if closed is None else packet_end(rulebook, closed, block.samples)
        stop = block.samples if last else starts[index + 1]
        why = block.invalid.get(event.sample, "")
        spans.append(TrialSpan(event.sample, event.code, starts[index], stop, closed, closed_end, why))
    return tuple(spans)


def check_form(rulebook: Rulebook, recording: Recording) -> None:
    """Channels and rate of every block must be the rulebook's."""
    for _, _, block in recording:
        if block.rate != rulebook.rate:
            raise BadInput(
                f"{block.source}: field srate: {block.rate} Hz; {rulebook.id} is played at {rulebook.rate} Hz"
            )
        if len(block.channels) != len(rulebook.channels):
            raise BadInput(
                f"{block.source}: field data: {len(block.channels)} channels and a trigger row; {rulebook.id} has "
                f"{len(rulebook.channels)} and a trigger row"
            )
        for row, (found, wanted) in enumerate(zip(block.channels, rulebook.channels, strict=True)):
            if found.casefold() != wanted.casefold():
                raise BadInput(
                    f"{block.source}: field ch_names: row {row} is {found}; {rulebook.id} has {wanted} there"
                )
