"""The question of the text's first sentence: does a person steer the robot, or the machine?

A person steers in tasks 1 to 6; in task 7 (Idle) the robot plays on its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bciarena.contests.game import Game
from bciarena.contests.turing.humans import author
from bciarena.contests.turing.rules import TASKS
from bciarena.contests.turing.soccer import IDLE, play_round

SHOWN = ("before", "controlled", "after", "target", "outcome")


def person(answer: str) -> bool | None:
    return author(answer) == "human" if answer.isascii() and answer.isdigit() and int(answer) in TASKS else None


def scenes(rng: np.random.Generator) -> list[tuple[dict[str, Any], bool]]:
    """One round of the game. What the robots do is seen, what the person was doing is not."""
    played = [(trial.as_json(), trial.task != IDLE) for trial in play_round(rng)]
    return [({name: told[name] for name in SHOWN}, truth) for told, truth in played]


GAME = Game(person, scenes)
