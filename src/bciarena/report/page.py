"""One self-contained page for a run."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

from bciarena.contests import contest
from bciarena.errors import BadInput
from bciarena.report.figures import all_figures
from bciarena.report.findings import findings
from bciarena.report.insight import alternatives, fixed_time_curve, perfect_at_own_times
from bciarena.report.kept import KeptRun, open_run
from bciarena.report.replay import replay
from bciarena.report.statistics import intervals
from bciarena.report.texts import WORDS, Said, explained, worded, words_of
from bciarena.runs.folder import LEDGER, RunFolder
from bciarena.summary import tally

PAGE_MOST = 4_700_000  # bytes
TRIALS_MOST = 5000  # rows of the trial table; the rest is in arena export


def render(folder: Path, language: str = "en", data: Path | None = None) -> str:
    """The page as HTML, complete in itself.

    Parameters
    ----------
    folder : Path
        A run folder.
    language : "en" or "zh"
        What it opens with; the page can switch.
    data : Path, optional
        The recordings, if they have moved since the run.
    """
    try:
        from jinja2 import Environment, PackageLoader
    except ImportError:
        raise BadInput("arena report needs jinja2 and plotly: pip install 'bciarena[report]'") from None
    if language not in WORDS:
        raise BadInput(f"unknown language {language!r}: choose en or zh")
    run = open_run(folder, data)
    environment = Environment(loader=PackageLoader("bciarena.report"), autoescape=True, trim_blocks=True)
    words = words_of(run.book)
    environment.globals.update(t=partial(_both, words), said=_spans)
    template = environment.get_template("report.html")
    figures = all_figures(run)
    values = {
        "run": run,
        "score": run.score,
        "metrics": intervals(run.score),
        "glance": _glance(run),
        "findings": findings(run),
        "rank": _rank(run),
        "explained": explained(_tally(run)) if run.trials else {},
        "figures": figures,
        "trials": run.score["trials"][:TRIALS_MOST],
        "named": _named(run),
        "language": language,
        "css": _text("report.css"),
        "js": _text("report.js"),
        "plotly": _plotly() if figures else "",
    }

    def page(played: dict[str, Any] | None, why: Said) -> str:
        content = {"words": words, "figures": [f._asdict() for f in figures], "replay": played}
        text = json.dumps(content, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
        return template.render(values, replay=played, replay_note=why, content=text)

    # The replay gets what the rest leaves of the page.
    return page(*replay(run, PAGE_MOST - len(page(None, {}).encode())))


def _both(words: dict[str, Said], key: str) -> Any:
    """A word in both languages; the style sheet shows the chosen one."""
    return _spans({code: worded(own, key) for code, own in words.items()})


def _spans(texts: Said) -> Any:
    from markupsafe import Markup, escape

    return Markup("").join(Markup(f'<span lang="{code}">{escape(text)}</span>') for code, text in texts.items())


def _named(run: KeptRun) -> dict[str, Said]:
    """Answers that have a word besides their code."""
    names = {code: contest(run.book).answers(code) for code in WORDS}
    every = {answer: {code: own.get(answer, answer) for code, own in names.items()} for answer in run.book.vocabulary}
    return {answer: said for answer, said in every.items() if any(name != answer for name in said.values())}


def _tally(run: KeptRun) -> dict[str, float]:
    data_s = sum(block["samples"] / block["rate"] for block in run.layout)
    think_s = float(run.think_s.sum()) if len(run.think_s) else None
    return tally(run.score, len(run.reports) or None, think_s, data_s, run.end["wall_s"] if run.end else None)


def _glance(run: KeptRun) -> dict[str, Any] | None:
    """What the score would be without each kind of loss."""
    if not run.trials:
        return None
    times, scores = fixed_time_curve(run.book, run.trials)
    perfect = perfect_at_own_times(run.book, run.trials)
    best = max(zip(scores, times, strict=True)) if times else (0.0, 0.0)
    own = float(run.score["score"])
    void = own < run.book.score(run.trials).score - 1e-6  # the verdict voided the answers
    others = {} if void else alternatives(run.book, run.trials)
    hint = "hint_void" if void else f"hint_{next(iter(others), 'none')}"
    return {"own": own, "best": best[0], "best_s": best[1], "perfect": perfect, "others": others, "hint": hint}


def _rank(run: KeptRun) -> tuple[int, int] | None:
    """Rank among the runs beside this one that played the same data by the same rules."""
    scores = []
    for path in run.folder.resolve().parent.glob(f"*/{LEDGER}"):
        if path.parent == run.folder.resolve():
            continue
        try:
            other = RunFolder(path.parent)
            header = other.header()
            if (header["data"], header["rulebook"]) == (run.header.get("data"), run.header.get("rulebook")):
                scores.append(other.score()["score"])
        except (OSError, BadInput):
            continue  # a damaged run beside this one does not matter here
    if not scores or not run.header:
        return None
    return 1 + sum(score > run.score["score"] for score in scores), 1 + len(scores)


def _text(name: str) -> str:
    return (resources.files("bciarena.report") / "static" / name).read_text("utf-8")


@cache
def _plotly() -> str:
    """Plotly's script from its wheel, compressed: the browser decompresses it, and the page stays small."""
    try:
        script = (resources.files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    except ModuleNotFoundError:
        raise BadInput("arena report needs plotly: pip install 'bciarena[report]'") from None
    return base64.b64encode(gzip.compress(script, 9, mtime=0)).decode()
