"""A match played by hand in the algorithm's own process: the basis of a companion package's main.py.

This module, and everything of ours that it imports, is copied into companion packages (see entries.engine) and runs
there under the contests' Pythons, 3.8 and later, with numpy alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bciarena.contests import rulebook as find_rulebook
from bciarena.match import Match
from bciarena.recording import Recording, open_recording
from bciarena.referee import Ledger, Truth, judge
from bciarena.stream import Packet, Stream
from bciarena.summary import summary, tally


class Rehearsal:
    """What an algorithm talks to, without a box: the three verbs of a client, and a score.

    Parameters
    ----------
    challenge : str
        Whose rules count.
    data : path or Recording
        A data folder with truth; the algorithm gets the masked stream, packet by packet.
    """

    def __init__(self, challenge: str, data: str | Path | Recording) -> None:
        self.rulebook = find_rulebook(challenge)
        self._recording = data if isinstance(data, Recording) else open_recording(data)
        self._truth = Truth.of(self.rulebook, self._recording)
        self.restart()

    def restart(self) -> None:
        """Forget all reports and start again with the first packet."""
        self._ledger = Ledger({"challenge": self.rulebook.id})
        self._match = Match(self.rulebook, Stream(self.rulebook, self._recording), self._ledger)
        self._said = -1

    @property
    def info(self) -> dict[str, Any]:
        """What an algorithm may know beforehand (see match.entry_info)."""
        return self._match.info

    @property
    def reports(self) -> list[dict[str, Any]]:
        """The ledger lines of the reports so far."""
        return self._ledger.reports

    def next(self) -> Packet | None:
        """The next packet; None after the last one."""
        packet = self._match.next()
        self._show()
        return packet

    def report(self, value: Any) -> None:
        """An answer, at the current position."""
        self._match.report(value)

    def score(self) -> dict[str, Any]:
        """Score, metrics, judged trials and notes for the reports so far."""
        found = judge(self.rulebook, self._truth, self.reports)
        return {
            "challenge": self.rulebook.id,
            "verdict": "ok",
            "score": found.score,
            "unit": self.rulebook.unit,
            "metrics": found.metrics,
            "trials": [trial.as_json() for trial in found.trials],
            "notes": found.notes,
            "reports": len(self.reports),
        }

    def _show(self) -> None:
        """One line for people who wait, where there is a terminal."""
        now = self._match.progress
        done = 100 * now.packets // max(now.total_packets, 1)
        if done != self._said and sys.stderr.isatty():
            self._said = done
            end = "\n" if self._match.finish_seen else ""
            print(f"\rplaying: {done} %, {now.reports} reports", end=end, file=sys.stderr, flush=True)


def told(result: dict[str, Any]) -> str:
    """A score in a few lines."""
    lines = [f"{result['challenge']}: score {result['score']:.2f} {result['unit']}"]
    lines += [f"  {name}: {value:.3f}" for name, value in result["metrics"].items()]
    lines += [f"  note: {note}" for note in result["notes"][:10]]
    return "\n".join([*lines, summary(tally(result, result["reports"]))])
