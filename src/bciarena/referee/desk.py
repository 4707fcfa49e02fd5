"""The referee's desk during a run: where the entry is, what its clocks say, and the lines that go to the ledger.

Three clocks, three names: *data* is the number of samples handed out; *think* is a virtual clock on which a packet
is available at the time of its last sample and computing takes the time it took (R9); *budget* is the wall and CPU
time of the whole run and is watched by whoever can end it. Nothing here reads a real clock: times are passed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bciarena.contests.rulebook import Rulebook
from bciarena.referee.answers import plain_value

Clock = Literal["think", "data"]


@dataclass
class Desk:
    """Events in (packet handed out, report made), ledger lines out."""

    rulebook: Rulebook
    clock: Clock = "think"
    subject: int = 1
    block: int = 1
    number: int = 0
    position: int = 0
    virtual_s: float = 0.0

    def handed_out(self, subject: int, block: int, number: int, position: int, thought_s: float) -> None:
        """A packet goes out, ``thought_s`` seconds after the one before it went out."""
        if (subject, block) != (self.subject, self.block):
            self.subject, self.block, self.virtual_s = (
                subject,
                block,
                0.0,
            )  # the clock starts again with each block
        elif self.clock == "think" and self.number:
            self.virtual_s += thought_s
        self.number, self.position = number, position
        self.virtual_s = max(self.virtual_s, position / self.rulebook.rate)

    def report(self, value: Any, thought_s: float) -> dict[str, Any]:
        """The ledger line of a report made ``thought_s`` seconds after the last packet went out.

        ``think_s`` is how far behind the data the entry was on the think clock: its computing time since the
        packet, plus what it was behind before.
        """
        behind_s = 0.0
        if self.clock == "think":
            behind_s = self.virtual_s + thought_s - self.position / self.rulebook.rate
        return {
            "subject": self.subject,
            "block": self.block,
            "position": self.position,
            "packet": self.number,
            "value": plain_value(value),
            "think_s": round(behind_s, 6),
        }
