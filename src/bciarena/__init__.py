"""BCI Arena: plays EEG recordings to decoding algorithms packet by packet and scores them by contest rules.

The names in ``__all__`` are the public Python interface (docs/python.md); ``bciarena.decoders`` has its own index.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from bciarena.lazy import lazy

if TYPE_CHECKING:
    from bciarena.contests import CONTESTS, RULEBOOKS, Contest, Rulebook, contest, rulebook
    from bciarena.errors import ArenaError, BadInput, EntryFailed, Fault
    from bciarena.inprocess import play
    from bciarena.recording import Block, Event, Recording, Subject, open_recording
    from bciarena.runs import Result, RunFolder, rescore
    from bciarena.runs.schema import BlockRow, Score, SubjectRow, TrialRow
    from bciarena.simulator import simulate
    from bciarena.stream import Packet
    from bciarena.verdicts import Verdict
else:  # on first use: code inside an entry's interpreter imports the package without scipy, and arena --help is quick
    _WHERE = {
        **dict.fromkeys(("CONTESTS", "RULEBOOKS", "Contest", "Rulebook", "contest", "rulebook"), "contests"),
        **dict.fromkeys(("ArenaError", "BadInput", "EntryFailed", "Fault"), "errors"),
        "play": "inprocess",
        **dict.fromkeys(("Block", "Event", "Recording", "Subject", "open_recording"), "recording"),
        **dict.fromkeys(("Result", "RunFolder", "rescore"), "runs"),
        **dict.fromkeys(("BlockRow", "Score", "SubjectRow", "TrialRow"), "runs.schema"),
        "simulate": "simulator",
        "Packet": "stream",
        "Verdict": "verdicts",
    }
    __getattr__ = lazy(__name__, _WHERE)

__version__ = version("bciarena")

__all__ = [
    "CONTESTS",
    "RULEBOOKS",
    "ArenaError",
    "BadInput",
    "Block",
    "BlockRow",
    "Contest",
    "EntryFailed",
    "Event",
    "Fault",
    "Packet",
    "Recording",
    "Result",
    "Rulebook",
    "RunFolder",
    "Score",
    "Subject",
    "SubjectRow",
    "TrialRow",
    "Verdict",
    "__version__",
    "contest",
    "open_recording",
    "play",
    "rescore",
    "rulebook",
    "simulate",
]


def __dir__() -> list[str]:
    return __all__
