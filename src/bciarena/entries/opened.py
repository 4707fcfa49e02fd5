"""An entry from its name to its score or its model: opened, given its interpreter, boxed, and run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bciarena.contests.rulebook import Rulebook
from bciarena.entries.environments import interpreter_for
from bciarena.entries.package import open_entry
from bciarena.errors import BadInput
from bciarena.match import End, Match, Player, Progress
from bciarena.package import Interpreter, Package
from bciarena.recording import Recording, open_sets
from bciarena.referee.desk import Clock
from bciarena.runs import Result, run_match
from bciarena.sandbox.box import Sandbox
from bciarena.sandbox.limits import Limits
from bciarena.sandbox.player import boxed
from bciarena.sandbox.training import train_boxed
from bciarena.writing import whole_file

TRAINED = "trained.json"
SEEN = "trained on this data: {seen} of {blocks} blocks were learnt from; the score says nothing about new ones"


@dataclass(frozen=True)
class Opened:
    """An entry that can be played and trained as often as wanted while it is open."""

    rulebook: Rulebook
    package: Package
    sandbox: Sandbox = "bwrap"
    model: Path | None = None
    image: str | None = None
    requirements: Path | None = None
    ranked: bool = False
    images: Mapping[str, Any] | None = None

    @cached_property
    def interpreter(self) -> Interpreter:
        """The Python it runs in; its environment is made on first use."""
        return interpreter_for(
            self.package,
            image=self.image,
            images=self.images,
            requirements=self.requirements,
            debugging=self.sandbox == "none",
        )

    def player(self, limits: Limits | None = None) -> Player:
        """What plays it in a match, in a new box each time."""
        return boxed(
            self.package, self.interpreter, sandbox=self.sandbox, model=self.model, limits=limits, ranked=self.ranked
        )

    def run(
        self,
        recording: Recording,
        *,
        out: Path | None = None,
        force: bool = False,
        clock: Clock = "think",
        about: dict[str, Any] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        budget_s: float | None = None,
        seed: int = 0,
        limits: Limits | None = None,
    ) -> Result:
        """Play it on a recording and score it (see `run_match`)."""
        player, known = self.player(limits), trained_on(self.model)
        seen = sum(block.digest in known for _, _, block in recording) if known else 0
        return run_match(
            self.rulebook,
            recording,
            _noting(player, SEEN.format(seen=seen, blocks=sum(1 for _ in recording))) if seen else player,
            out=out,
            force=force,
            clock=clock,
            sandbox=self.sandbox,
            entry_digest=self.package.digest,
            about=about,
            on_progress=on_progress,
            budget_s=budget_s,
            seed=seed,
        )

    def train(
        self,
        data: Path,
        out: Path,
        *,
        budget_s: float = 86400.0,
        on_output: Callable[[bytes], None] = lambda raw: None,
        limits: Limits | None = None,
        secret: bool = False,
    ) -> list[str]:
        """Let it learn from a data folder; what it learnt becomes the folder ``out`` (see `train_boxed`)."""
        names = train_boxed(
            self.package,
            self.interpreter,
            self.rulebook,
            data,
            out,
            sandbox=self.sandbox,
            budget_s=budget_s,
            on_output=on_output,
            limits=limits,
            ranked=self.ranked,
            secret=secret,
        )
        blocks = [block.digest for recording in open_sets(data).values() for _, _, block in recording]
        about = {"challenge": self.rulebook.id, "entry": self.package.digest, "blocks": blocks}
        with whole_file(out / TRAINED) as beside:
            beside.write_text(json.dumps(about), "utf-8")
        return names


def trained_on(model: Path | None) -> frozenset[str]:
    """Digests of the blocks that a model has learnt from; none where nobody kept them."""
    path = model / TRAINED if model else None
    if path is None or not path.is_file():
        return frozenset()
    try:
        return frozenset(json.loads(path.read_text("utf-8"))["blocks"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: is damaged; train the model again") from error


def _noting(player: Player, words: str) -> Player:
    def noted(match: Match) -> End:
        end = player(match)
        return end._replace(notes=(words, *end.notes))

    return noted


@contextmanager
def opened(
    spec: str,
    rulebook: Rulebook,
    *,
    entry: str | None = None,
    python: str | None = None,
    image: str | None = None,
    images: Mapping[str, Any] | None = None,
    requirements: Path | None = None,
    sandbox: Sandbox = "bwrap",
    model: Path | None = None,
    boxed: bool = False,
    ranked: bool = False,
    problems: list[str] | None = None,
) -> Iterator[Opened]:
    """Open an entry (see `open_entry`) to play or train it; its copy is removed afterwards."""
    with open_entry(spec, rulebook, entry=entry, python=python, boxed=boxed, problems=problems) as package:
        yield Opened(rulebook, package, sandbox, model, image, requirements, ranked, images)
