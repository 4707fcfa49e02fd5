"""arena compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bciarena.cli._options import AsJson, Outside
from bciarena.cli._say import give, say


def main(
    runs: Annotated[list[Path], typer.Argument(help="Two or more run folders on the same data.")],
    challenge: Outside = None,
    as_json: AsJson = False,
) -> None:
    """Paired comparison of runs: difference, interval, test, and who got which trials."""
    from bciarena.contests import known
    from bciarena.errors import BadInput
    from bciarena.report.comparison import compare_runs

    if len(runs) < 2:
        raise BadInput("arena compare needs at least two run folders")
    known(challenge)
    found = compare_runs(runs)
    if as_json:
        give(found)
        return
    for pair in found:
        say(f"{pair['two']} against {pair['one']}  ({pair['challenge']})")
        low, high = pair["low"], pair["high"]
        reach = f"  95 % interval {low:+.3f} to {high:+.3f}" if low is not None else ""
        say(f"  score {pair['score_two']:.3f} - {pair['score_one']:.3f} = {pair['difference']:+.3f}{reach}")
        if pair["p"] is None:
            say("  too few blocks to test: three are needed")
        elif low is None:
            say("  the same in every block: nothing to test, and no spread to make an interval of")
        else:
            word = "distinguishable" if pair["distinguishable"] else "not distinguishable"
            p = f"p = {pair['p']:.4f}" if pair["p"] >= 0.0001 else "p < 0.0001"
            say(f"  {word} ({p}, t test over {pair['unit']})")
        for key in ("only_one", "only_two"):
            shown = ", ".join("S{} B{} #{}".format(*place) for place in pair[key][:12])
            more = f" and {len(pair[key]) - 12} more" if len(pair[key]) > 12 else ""
            say(f"  only {pair[key.removeprefix('only_')]} got {len(pair[key])} trials: {shown}{more}")
