"""Two-a-side robot soccer, pure and seeded: the same generator state gives the same game.

Robots 1 and 2 attack, 3 (defender) and 4 (keeper) defend. Each stands on its own line and moves left or right by
one column a trial. An attacker holds the ball. In each trial a planner looks at the situation and chooses one of the
nine behaviours of Table 2; one attacker is drawn to be under human control, and the BCI task is drawn from what
the table allows for that robot's action (or Idle: the robot then plays on its own). A goal, a catch or a turnover
from the fourth trial on ends the round, the sixth trial ends it anyway; earlier ones give the ball back.

>>> from bciarena.protocol.seeds import stream
>>> block = play_block(stream(1, "soccer"))
>>> 3 <= len(block) <= 5 and all(4 <= len(trials) <= 6 for trials in block)
True
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from bciarena.contests.turing.rules import BEHAVIOURS, TASKS

EDGE = 4
"""Columns run from -EDGE (left) to EDGE (right)."""
GOAL = 1
"""The goal's mouth is the columns -GOAL to GOAL."""
ROUNDS = (3, 5)
TRIALS = (4, 6)
HURRY = 0.7

Outcome = Literal["moved", "passed", "intercepted", "goal", "saved", "blocked", "wide"]
ENDS = frozenset({"intercepted", "goal", "saved", "blocked", "wide"})
"""What ends a round once it has had its four trials."""

STEP = {"left": -1, "right": 1}
TASK_OF = {"left": (1, 3), "right": (2, 4), "pass": (5,), "shoot": (6,)}
"""The tasks with which a robot's action can be commanded (Table 3)."""
IDLE = 7


@dataclass(frozen=True)
class Pitch:
    """Columns of robots 1-4 and the attacker (1 or 2) who holds the ball."""

    columns: tuple[int, int, int, int]
    holder: int

    @property
    def ball(self) -> int:
        return self.columns[self.holder - 1]


@dataclass(frozen=True)
class SoccerTrial:
    """One trial: the situation shown during cue and task, what is played in the action, and how it ended."""

    before: Pitch
    behaviour: int
    controlled: int
    task: int
    after: Pitch
    target: int | None  # column a shot flies to
    outcome: Outcome

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"task_name": TASKS[self.task], "actions": BEHAVIOURS[self.behaviour][:2]}


def play_block(rng: np.random.Generator) -> tuple[tuple[SoccerTrial, ...], ...]:
    """3-5 rounds of 4-6 trials."""
    return tuple(play_round(rng) for _ in range(rng.integers(ROUNDS[0], ROUNDS[1] + 1)))


def play_round(rng: np.random.Generator) -> tuple[SoccerTrial, ...]:
    """One attack from random positions until it ends, in 4-6 trials."""
    columns = tuple(int(column) for column in rng.integers(-EDGE, EDGE + 1, 4))
    pitch = Pitch((columns[0], columns[1], columns[2], _mouth(columns[3])), int(rng.integers(1, 3)))
    trials: list[SoccerTrial] = []
    while len(trials) < TRIALS[1]:
        trial = play_trial(pitch, rng, len(trials) + 1)
        trials.append(trial)
        if len(trials) >= TRIALS[0] and trial.outcome in ENDS:
            break
        pitch = trial.after
    return tuple(trials)


def play_trial(pitch: Pitch, rng: np.random.Generator, number: int = 1) -> SoccerTrial:
    """Plan, draw the controlled robot and the task, and play the actions of the round's trial ``number``."""
    behaviour = plan(pitch, rng, number)
    controlled = int(rng.integers(1, 3))
    task = int(rng.choice(tasks_for(behaviour, controlled)))
    target = None
    if "shoot" in BEHAVIOURS[behaviour][:2]:
        target = int(np.clip(pitch.ball + rng.integers(-2, 3), -EDGE, EDGE))
        if rng.random() < 0.8:  # mostly the ball goes between the posts
            target = _mouth(target)
    after, outcome = act(pitch, behaviour, target, rng)
    return SoccerTrial(pitch, behaviour, controlled, task, after, target, outcome)


def tasks_for(behaviour: int, controlled: int) -> list[int]:
    """The tasks of Table 2 that fit the controlled robot's action, and Idle where the table has it."""
    action = BEHAVIOURS[behaviour][:2][controlled - 1]
    return [task for task in BEHAVIOURS[behaviour][2] if task in TASK_OF[action] or task == IDLE]


def plan(pitch: Pitch, rng: np.random.Generator, number: int = 1) -> int:
    """Choose a behaviour: the better it looks in this situation, the more likely.

    The nearer the round's end (``number`` is the trial's, from 1), the more a shot is worth.
    """
    hurry = HURRY * max(0, number - TRIALS[0] + 1)
    looks = {code: _worth(pitch, pair[:2]) + hurry * ("shoot" in pair) for code, pair in BEHAVIOURS.items()}
    codes = [code for code, worth in looks.items() if worth > -np.inf]
    chance = np.exp([looks[code] for code in codes])
    return int(rng.choice(codes, p=chance / chance.sum()))


def _worth(pitch: Pitch, actions: tuple[str, str]) -> float:
    """How good a pair of actions looks; minus infinity when it cannot be played."""
    columns = [column + STEP.get(action, 0) for column, action in zip(pitch.columns[:2], actions, strict=True)]
    if max(map(abs, columns)) > EDGE or (actions[0] != "pass" and columns[0] == columns[1]):
        return -np.inf
    holder, mate = pitch.holder - 1, 2 - pitch.holder
    defender = pitch.columns[2]
    if actions[mate] == "shoot":  # only the robot with the ball can shoot
        return -np.inf
    if actions[holder] == "shoot":
        return 0.5 * min(abs(pitch.ball - defender), 3) - 0.5 * max(abs(pitch.ball) - GOAL, 0)
    if actions[holder] == "pass":
        return 0.5 * (abs(columns[mate] - defender) - abs(pitch.ball - defender))
    # Moves: the holder away from the defender and before the goal, the mate into free space.
    free = abs(columns[holder] - defender) - 0.4 * abs(columns[holder])
    return 0.4 * float(free) + 0.2 * abs(columns[mate] - columns[holder]) - 0.6


def act(pitch: Pitch, behaviour: int, target: int | None, rng: np.random.Generator) -> tuple[Pitch, Outcome]:
    """Move all four robots and the ball; robots 3 and 4 always play on their own."""
    actions = BEHAVIOURS[behaviour][:2]
    one, two = (column + STEP.get(action, 0) for column, action in zip(pitch.columns[:2], actions, strict=True))
    aim = pitch.ball if target is None else target
    # The defenders follow the ball and mostly anticipate it correctly.
    three = _towards(pitch.columns[2], aim if rng.random() < 0.7 else 0)
    four = _mouth(_towards(pitch.columns[3], aim if rng.random() < 0.7 else 0))
    after = Pitch((one, two, three, four), pitch.holder)
    if behaviour == 5:
        low, high = sorted((one, two))
        if low < three < high and rng.random() < 0.3:
            return after, "intercepted"
        return replace(after, holder=3 - pitch.holder), "passed"
    if target is None:
        return after, "moved"
    return after, _shot(after, target, rng)


def _shot(pitch: Pitch, target: int, rng: np.random.Generator) -> Outcome:
    if abs(target) > GOAL:
        return "wide"
    if pitch.columns[2] in (pitch.ball, target) and rng.random() < 0.5:
        return "blocked"
    return "saved" if pitch.columns[3] == target and rng.random() < 0.8 else "goal"


def _towards(column: int, aim: int) -> int:
    return column + int(np.sign(aim - column))


def _mouth(column: int) -> int:
    return int(np.clip(column, -GOAL, GOAL))
