"""The companion package: the folder a contestant starts from, and the engine behind its main.py.

``arena new`` writes it from the templates in starter/: the contest's names, a short working sample, and thin faces that
play it here. Only the sample and its configuration are ever packed or uploaded.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from bciarena.contests import contest
from bciarena.contests import rulebook as find_rulebook
from bciarena.contests.rulebook import Rulebook
from bciarena.errors import BadInput
from bciarena.match import Match
from bciarena.recording import Recording, open_recording
from bciarena.referee import Ledger, Truth
from bciarena.runs import score_of
from bciarena.stream import Packet, Stream

STARTER = Path(__file__).parents[1] / "starter"
SEED = 20


def write_starter(rulebook: Rulebook, folder: Path) -> list[str]:
    """Write the companion package of a challenge into ``folder``, new or empty; gives the names of its files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder}: is there already; choose a new folder")
    words = {
        "__CHALLENGE__": rulebook.name,
        "__TITLE__": rulebook.title,
        "__TITLE_ZH__": rulebook.title_zh,
        "__CLASS__": rulebook.classes[0],
        "__PYTHON__": rulebook.python,
        "__PACKET__": str(rulebook.packet_n),
    }
    dialect = rulebook.dialect.lower()
    shared = {"a": ["common", "dialect_ab", "dialect_a"], "b": ["common", "dialect_ab", "dialect_b"]}
    shared |= {"c": ["common", "dialect_c"], "d": []}  # the plain dialect needs no framework around it
    own = contest(rulebook)
    if not own.has("starter"):
        raise BadInput(f"{rulebook.id}: this contest has no companion package (no starter/ in {own.folder})")
    parts = [*(STARTER / name for name in shared[dialect]), own.folder / "starter"]
    try:
        for part in parts:
            for source in sorted(path for path in part.rglob("*") if path.is_file() and path.suffix != ".pyc"):
                text = source.read_text("utf-8")
                for mark, word in words.items():
                    text = text.replace(mark, word)
                target = folder / source.relative_to(part)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise BadInput(f"{folder}: cannot be written ({error.strerror})") from error
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def practice_set(challenge: str, folder: str | Path = "data") -> Path:
    """A small set of simulated subjects with truth, made on first use."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from bciarena.protocol import protocol_of
    from bciarena.simulator import Order, make

    where = Path(folder)
    if where.is_dir() and any(where.iterdir()):
        return where
    order = Order(challenge, seed=SEED, **protocol_of(challenge).practice)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(f"making a practice set in {where} (once)", total=order.files)
        make(order, where, advance=lambda _: progress.update(task, advance=1))
    return where


class Rehearsal:
    """A match played by hand in this process: what the faces of a companion package stand in front of.

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
        """Forget all reports and begin anew with the first packet."""
        self._ledger = Ledger({"challenge": self.rulebook.id})
        self._match = Match(self.rulebook, Stream(self.rulebook, self._recording), self._ledger)
        self._said = -1

    @property
    def info(self) -> dict[str, Any]:
        """What an algorithm may know beforehand (see Match.info)."""
        return self._match.info

    def next(self) -> Packet | None:
        """The next packet; None after the last one."""
        if self._match.finish_seen:
            raise EOFError("the data had ended: the finish flag was True before")
        packet = self._match.next()
        self._show()
        return packet

    def report(self, value: Any) -> None:
        """An answer, at the present position."""
        self._match.report(value)

    def score(self) -> dict[str, Any]:
        """The content of score.json for the reports so far."""
        return score_of(self.rulebook, self._truth, self._ledger.reports, {"verdict": "ok", "sandbox": "in-process"})

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
    return "\n".join(lines)
