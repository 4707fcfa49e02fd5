"""arena plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bciarena.cli._options import AsJson
from bciarena.cli._say import give, say


def main(
    challenge: Annotated[str, typer.Argument(help="Rulebook id, with or without version, or a contest folder.")],
    difference: Annotated[
        float, typer.Option(help="True difference in score to be detected; on one block, where points add up.")
    ],
    teams: Annotated[int, typer.Option(help="Teams on the board.")] = 2,
    accuracy: Annotated[float, typer.Option(help="Accuracy of the other entries, for an average person.")] = 0.8,
    seconds: Annotated[float, typer.Option(help="Their mean answer time.")] = 1.5,
    alarms: Annotated[float, typer.Option(help="Share of trials answered although nothing was asked.")] = 0.03,
    people: Annotated[str, typer.Option(help="Numbers of people to try.")] = "1,3,6,12",
    blocks: Annotated[str, typer.Option(help="Numbers of blocks per person to try.")] = "2,4,6",
    trials: Annotated[int | None, typer.Option(help="Trials per block; default: the contest's own number.")] = None,
    boards: Annotated[int, typer.Option(help="Boards simulated for each design.")] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    figure: Annotated[Path | None, typer.Option(help="Also draw the table, as SVG.")] = None,
    as_json: AsJson = False,
) -> None:
    """How many people, blocks and trials a contest needs to tell two entries apart: power by simulation."""
    from bciarena.contests import contest, rulebook
    from bciarena.errors import BadInput
    from bciarena.protocol import protocol_of, timelines
    from bciarena.report import planning
    from bciarena.report.statistics import BLOCK_SD
    from bciarena.writing import wanted_file

    book = rulebook(challenge)
    for name, value in (("accuracy", accuracy), ("alarms", alarms)):
        if not 0 < value < 1:
            raise BadInput(f"--{name} {value:g}: a share between 0 and 1")
    if not 0 < seconds < (book.limit_s or float("inf")):
        below = "" if book.limit_s is None else f" and below the limit of {book.limit_s:g} s"
        raise BadInput(f"--seconds {seconds:g}: must be above 0{below}")
    if teams < 2:
        raise BadInput(f"--teams {teams}: two are needed to tell apart")
    if not 0 < difference < float("inf"):
        raise BadInput(f"--difference {difference:g}: must be above 0")
    if boards < 1 or (trials is not None and trials < 1):
        raise BadInput("--boards and --trials: 1 or more")
    if contest(book).has("protocol.py"):
        steps = timelines(book.id, protocol_of(book).scored, blocks=1)[0].steps
        codes = [step.code for step in steps if step.code in book.opens]
    else:
        codes = sorted(book.opens) if trials is not None else []
    sizes = (_numbers("people", people), _numbers("blocks", blocks))
    assumed = planning.Assumed(accuracy, seconds, alarms, planning.blocks_like(codes, trials))

    def tell(row: dict[str, Any]) -> None:
        said = f"{row['people']:>7} {row['blocks']:>7} {row['trials']:>7}   "
        if not row["testable"]:
            said += "0     too few blocks to test"
        elif row["power"] is None:
            said += "-     no entry can be that much better on so little data"
        else:
            said += f"{row['power']:.2f} ± {row['error']:.2f}" + ("  enough" if row["power"] >= planning.WANTED else "")
        say(said)

    if not as_json:
        where = " on a block" if planning.adds_up(book, assumed) else ""
        say(f"{book.id}: one of {teams} entries is better by {difference:g} {book.unit}{where}, the others are equal:")
        counted = max(seconds, book.floor_s)
        say(f"right in {accuracy:.0%} for an average person, after {counted:g} s. People are assumed to differ by")
        say(f"{planning.PERSON_SD:g} and the blocks of an entry by {BLOCK_SD:g} in log odds. Power: the chance that")
        say(f"the board separates it from one of the others; {planning.WANTED:g} counts as enough.")
        say(f"{'people':>7} {'blocks':>7} {'trials':>7}   power  (blocks per person, trials per block)")
    rows = planning.plan(book, assumed, teams, difference, *sizes, boards, seed, None if as_json else tell)
    if as_json:
        give(rows)
    if figure is not None:
        title = f"{book.id}: {teams} teams, a difference of {difference:g} {book.unit}"
        with wanted_file(figure) as path:
            path.write_text(planning.figure(rows, title), "utf-8")


def _numbers(name: str, text: str) -> list[int]:
    from bciarena.errors import BadInput

    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise BadInput(f"--{name} {text}: give whole numbers with commas between, such as 1,3,6")
    return [int(part) for part in parts]
