"""What only a report about the Turing test says: how a block gets to its target."""

from __future__ import annotations

from scipy.special import betaincinv

from bciarena.contests.game import Share, of_trials
from bciarena.contests.trial import by_block
from bciarena.contests.turing.game import GAME
from bciarena.contests.turing.score import target
from bciarena.report.figures import Figure
from bciarena.report.kept import KeptRun
from bciarena.report.part import Part
from bciarena.report.texts import Said, said


def turing_trace(run: KeptRun) -> Figure:
    """S = K N / L after each trial of a block, until the target is reached."""
    traces, passed = [], 0
    for subject, block, own in by_block(run.trials):
        x, y, right, used_s = [], [], 0, 0.0
        for trial in own:
            if trial.status == "after_target":
                break
            right += trial.correct
            used_s += trial.length_s or 0.0
            x.append(trial.trial)
            y.append(run.book.constants["coefficient"] * right / used_s if used_s else 0.0)
        done = right >= target(run.book, len(own))
        passed += done
        mark = {"symbol": ["circle"] * (len(x) - 1) + ["star" if done else "x"], "size": [5] * (len(x) - 1) + [13]}
        line = {"type": "scatter", "mode": "lines+markers", "x": x, "y": y, "marker": mark}
        traces.append(line | {"name": f"@place|{subject}|{block}"})
    layout = {"xaxis": {"title": {"text": "@trial"}}, "yaxis": {"title": {"text": "@running_score"}}, "height": 420}
    return Figure(
        "turing_trace",
        traces,
        layout,
        said(run.book, "alt_target", n=passed, m=len(traces), share=float(run.book.constants["target"])),
    )


def _share(share: Share) -> str:
    """A share with its interval; trials of different people are treated alike."""
    if share.value is None or share.interval is None:
        return "–"
    low, high = share.interval
    return f"{share.value:.1%} [{low:.1%}, {high:.1%}]"


def findings(run: KeptRun) -> list[Said]:
    """Whether a person or the machine steers; blocks that passed, and how likely the next one is to pass."""
    human = of_trials(GAME, run.score["trials"])
    passed = [bool(block["score"] > 0) for block in run.score["blocks"]]
    n, m = sum(passed), len(passed)
    low = float(betaincinv(n, m - n + 1, 0.025)) if n else 0.0  # Clopper and Pearson: with few blocks others miss
    high = float(betaincinv(n + 1, m - n, 0.975)) if n < m else 1.0
    return [
        said(run.book, "say_human", p=_share(human.accuracy), s=_share(human.sensitivity), a=_share(human.alarms)),
        said(run.book, "say_target", n=n, m=m, share=float(run.book.constants["target"])),
        said(run.book, "say_pass", p=(n + 0.5) / (m + 1), low=low, high=high),
    ]


REPORT = Part(
    columns=("accuracy", "mean_length_s", "blocks_passed"),
    figures=(turing_trace,),
    findings=findings,
)
