"""Runs as a paper prints them: a table with intervals and ties, a paragraph on methods, and what to cite."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bciarena.contests import contest
from bciarena.errors import BadInput
from bciarena.plaintext import clean, table_cell
from bciarena.report.comparison import same_trials
from bciarena.report.kept import KeptRun, open_run
from bciarena.report.ranking import Place, places
from bciarena.report.statistics import Interval, intervals
from bciarena.report.texts import worded, words_of
from bciarena.report.units import units_of
from bciarena.words import LANGUAGES, read_words
from bciarena.writing import wanted_folder

WORDS = {code: tables["paper"] for code, tables in read_words(Path(__file__).parent).items()}
SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
REFERENCES = (Path(__file__).parent / "references.bib").read_text("utf-8").strip().split("\n\n")


class Line(NamedTuple):
    """One run of the table."""

    run: KeptRun
    name: str
    found: dict[str, Interval]
    place: Place | None


def write_paper(folders: list[Path], out: Path, language: str = "en", force: bool = False) -> list[str]:
    """Write results.csv, results.tex, methods.tex and references.bib; returns their names."""
    if language not in LANGUAGES:
        raise BadInput(f"--language {language}: choose one of {', '.join(LANGUAGES)}")
    lines = table([open_run(folder) for folder in folders])
    methods = methods_text(lines, language)
    files = {
        "results.csv": csv_text(lines),
        "results.tex": latex_text(lines, language),
        "methods.tex": methods,
        "references.bib": references_text(lines, methods),
    }
    with wanted_folder(out, force) as folder:
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
    return list(files)


def table(runs: list[KeptRun]) -> list[Line]:
    """Runs on the same trials from best to worst, with intervals, and the ranks each shares."""
    same_trials(runs)
    runs = sorted(runs, key=lambda run: -float(run.score["score"]))
    found = [intervals(run.score) for run in runs]
    placed: list[Place | None] = [None] * len(runs)
    if len(runs) > 1:
        units = [units_of(run.book, run.trials) for run in runs]
        sums = {name: np.stack([one.sums[name] for one in units]) for name in units[0].sums}
        ends = np.array([[np.nan if end is None else end for end in one["score"][1:3]] for one in found])
        placed = list(places(runs[0].book, sums, units[0].subject, ends))
    names = _names(runs)
    return [Line(*row) for row in zip(runs, names, found, placed, strict=True)]


def _names(runs: list[KeptRun]) -> list[str]:
    """What each run is called: its entry's name; with its folder's where two have the same."""
    names = [clean(str(run.about.get("name") or run.folder.name)) for run in runs]
    return [
        f"{name} ({clean(run.folder.name)})" if names.count(name) > 1 else name
        for name, run in zip(names, runs, strict=True)
    ]


def csv_text(lines: list[Line]) -> str:
    """One row per run, every value with the ends of its two intervals."""
    rows: list[dict[str, Any]] = []
    for run, name, found, place in lines:
        row: dict[str, Any] = {"entry": name, "challenge": run.book.id, "verdict": run.score["verdict"]}
        row |= {"rank_first": place.first if place else 1, "rank_last": place.last if place else 1}
        row |= {"rank_tested": place.tested if place else "", "p_against_best": place.p if place else None}
        for metric, one in found.items():
            row |= {metric: one.value, f"{metric}_low": one.low, f"{metric}_high": one.high}
            row |= {f"{metric}_new_people_low": one.new_low, f"{metric}_new_people_high": one.new_high}
        rows.append(row)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: table_cell(value) for key, value in row.items()} for row in rows)
    return buffer.getvalue()


def latex_text(lines: list[Line], language: str) -> str:
    """A table for booktabs; intervals are for new people where there are enough people to tell."""
    run, words = lines[0].run, WORDS[language]
    names = words_of(run.book)[language]
    metrics = list(lines[0].found)
    people = lines[0].found["score"].new_low is not None
    heads = [words["rank"], words["entry"]]
    heads += [f"{latex(worded(names, one))}{f' ({latex(run.book.unit)})' * (one == 'score')}" for one in metrics]
    body = []
    for line in lines:
        place = line.place
        rank = (
            "--" if place is None else str(place.first) if place.first == place.last else f"{place.first}--{place.last}"
        )
        body.append([rank, latex(line.name), *(_cell(line.found[one], people) for one in metrics)])
    ranks = ""
    if lines[0].place:
        ranks = words["tied"] if all(line.place and line.place.tested for line in lines) else words["untested"]
    caption = words["caption"].format(
        title=latex(contest(run.book).title(language)),
        challenge=latex(run.book.id),
        reach=words["reach_people" if people else "reach_same"],
        ranks=ranks,
        **_counts(run),
    )
    rows = [" & ".join(cells) + r" \\" for cells in (heads, *body)]
    inner = [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            rf"\caption{{{caption.strip()}}}",
            rf"\begin{{tabular}}{{ll{'r' * len(metrics)}}}",
            *inner,
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _cell(one: Interval, people: bool) -> str:
    low, high = (one.new_low, one.new_high) if people else (one.low, one.high)
    return f"{one.value:.3g}" if low is None or high is None else f"{one.value:.3g} [{low:.3g}, {high:.3g}]"


def methods_text(lines: list[Line], language: str) -> str:
    """What was done, with versions, digests and citations; one paragraph."""
    run, words = lines[0].run, WORDS[language]
    header, book, unit = run.header, run.book, lines[0].found["score"].unit
    versions = header.get("versions", {})
    boxes = sorted({str(line.run.score.get("sandbox", "none")) for line in lines})
    boxed = all(box.startswith("bwrap") for box in boxes)
    left_out = sum(trial["status"] == "invalid" for trial in run.score["trials"])
    said = [
        words["played"].format(
            version=latex(versions.get("bciarena", "?")),
            challenge=latex(book.id),
            rules=header.get("rulebook", "")[:12],
            packet_n=book.packet_n,
            packet_ms=1000 * book.packet_n / book.rate,
        ),
        words["data"].format(data=header.get("data", "")[:12], **_counts(run)),
        words["left_out"].format(count=left_out) if left_out else "",
        words[f"clock_{header.get('clock', 'think')}"],
        words["boxed" if boxed else "unboxed"].format(box=latex(", ".join(boxes))),
        words[f"drawn_{unit.replace(' ', '_')}"].format(),
        words["people"].format() if lines[0].found["score"].new_low is not None else "",
        words["ranked"].format() if len(lines) > 1 else "",
        words["versions"].format(
            python=latex(versions.get("python", "?")), numpy=latex(versions.get("numpy", "?"))
        ),
    ]  # fmt: skip
    return ("" if language == "zh" else " ").join(filter(None, said)) + "\n"


def references_text(lines: list[Line], methods: str) -> str:
    """BibTeX of what the paragraph cites."""
    version = str(lines[0].run.header.get("versions", {}).get("bciarena", ""))
    cited = [text for text in REFERENCES if text.split("{")[1].split(",")[0] in methods]
    return "\n\n".join(cited).replace("VERSION", version) + "\n"


def _counts(run: KeptRun) -> dict[str, int]:
    return {
        "subjects": len({trial.subject for trial in run.trials}),
        "blocks": len({(trial.subject, trial.block) for trial in run.trials}),
        "trials": len(run.trials),
    }


def latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(SPECIAL.get(sign, sign) for sign in clean(text).replace("\n", " "))
