"""Writes the entry of a model: its files, and the window and stopping rule that score best on training data.

The model runs in a box alone. What comes back from there are numbers, from which the rule is chosen here with the
contest's own score.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bciarena.contests.rulebook import Rulebook
from bciarena.contests.trial import Status, Trial
from bciarena.decoders.stopping import StoppingPolicy, fit_policy
from bciarena.entries import library
from bciarena.entries.opened import opened
from bciarena.errors import BadInput
from bciarena.match import entry_info
from bciarena.sandbox.box import Sandbox
from bciarena.scratch import scratch
from bciarena.wrapping.playing import ABOUT, FITTED, LEARNT, POSTERIORS, softmax
from bciarena.writing import whole_folder

KINDS = {
    ".onnx": "onnx",
    ".pkl": "pickle",
    ".pickle": "pickle",
    ".joblib": "pickle",
    ".pt": "torch",
    ".pth": "torch",
    ".yml": "yaml",
    ".yaml": "yaml",
}
LEARNS = ("class", "yaml")
GRID_N = 6  # steps of the search for the stopping rule
ENTRY = '''"""Written by arena wrap: {name} in windows, with a stopping rule."""

from pathlib import Path

from bciarena.wrapping.playing import Wrapped
{also}

FILES = {files!r}


class Entry(Wrapped):
    root = Path(__file__).resolve().parent
'''


@dataclass(frozen=True)
class Options:
    """How the model was trained, as far as its file does not say.

    Attributes
    ----------
    module : str
        ``net.py:Net`` or ``package.module:Class``: what a state_dict belongs to; a file that a pickle needs.
    arguments : dict
        For that class.
    classes : tuple of str
        The answers that the model's columns stand for; empty: its own labels, or the order of the challenge.
    window_s : tuple of float
        Lengths of window to try; empty: the model's own, or several.
    channels : tuple of str
        Empty: all.
    band : tuple of float
        Band-pass in Hz; empty: none.
    rate : int
        Samples per second that the model wants; 0: as recorded.
    scale : float
        What samples (microvolts) are multiplied by.
    refit : bool
        Train a pickled estimator anew on the training data.
    """

    module: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    window_s: tuple[float, ...] = ()
    channels: tuple[str, ...] = ()
    band: tuple[float, ...] = ()
    rate: int = 0
    scale: float = 1.0
    refit: bool = False


@dataclass(frozen=True)
class Fitted:
    """What was chosen, and what it scores on the training data."""

    window_s: float
    policy: StoppingPolicy
    pooled: bool
    score: float
    accuracy: float
    mean_length_s: float
    trials: int
    out_of_fold: bool


def wrap(
    model: str,
    book: Rulebook,
    data: Path,
    out: Path,
    options: Options,
    *,
    force: bool = False,
    sandbox: Sandbox = "bwrap",
    budget_s: float = 86400.0,
    on_output: Callable[[bytes], None] = lambda raw: None,
) -> Fitted:
    """Write the entry of ``model`` into the folder ``out``, fitted on the training folder ``data``."""
    about, files = _described(model, book, options)
    with whole_folder(out, force) as folder:
        for path in files:
            shutil.copyfile(path, folder / path.name)
        _write(folder, about, model, files)
        with scratch() as work:
            with opened(str(folder), book, sandbox=sandbox) as ready:
                ready.train(data, work / "model", budget_s=budget_s, on_output=on_output)
            chosen = _choose(work / "model", book, about)
            if about["fit"]:
                shutil.copyfile(work / "model" / f"{about['length_n']}.pkl", folder / LEARNT)
                files = [path for path in files if path.suffix == ".py"]
        _write(folder, about, model, files)
    return chosen


def _described(model: str, book: Rulebook, options: Options) -> tuple[dict[str, Any], list[Path]]:
    """The content of wrap.json before anything was fitted, and the files that go along."""
    info = entry_info(book)
    if not info["marks"]:
        raise BadInput(f"{book.id}: its stream marks no trials, so a model of windows has none to look at")
    named, _, name = model.rpartition(":")
    is_class = named.endswith(".py") and name.isidentifier()
    path = Path(named if is_class else model)
    if not path.is_file():
        raise BadInput(f"{path}: no such file; give one of {', '.join(KINDS)}, or module.py:Class")
    kind = "class" if is_class else KINDS.get(path.suffix.lower(), "")
    if not kind:
        raise BadInput(f"{path}: of no known kind; give one of {', '.join(KINDS)}, or module.py:Class")
    module = f"{path.name}:{name}" if is_class else options.module
    if kind == "torch" and ":" not in module:
        raise BadInput(f"{path}: a state_dict needs its class: --module net.py:Net, or --module package.module:Class")
    files = [path]
    beside = Path(options.module.rpartition(":")[0] or options.module)
    if options.module and beside.suffix == ".py":
        if not beside.is_file():
            raise BadInput(f"--module {options.module}: {beside} is not there")
        files.append(beside)
        module = f"{beside.name}:{module.rpartition(':')[2]}"
    wrong = [one for one in options.channels if one not in book.channels]
    wrong += [one for one in options.classes if one not in book.vocabulary]
    if wrong:
        raise BadInput(f"{wrong[0]}: {book.id} has no such channel or answer")
    if options.refit and kind not in ("pickle", *LEARNS):
        raise BadInput(f"{path}: only an estimator of scikit-learn's form can be trained here; leave --refit out")
    truth = {str(code): text for code, text in book.truth.items() if code not in book.idle}
    about = {
        "challenge": book.id,
        "kind": kind,
        "file": path.name,
        "module": module,
        "arguments": options.arguments,
        "fit": options.refit or kind in LEARNS,
        "classes": list(options.classes),
        "answers": sorted(set(truth.values())),
        "window_s": list(options.window_s),
        "channels": list(options.channels),
        "band": list(options.band),
        "rate": options.rate,
        "scale": options.scale,
        "info": info | {"truth": truth, "idle": sorted(book.idle)},
    }
    return about, files


def _write(folder: Path, about: dict[str, Any], model: str, files: list[Path]) -> None:
    names = [ABOUT, *(path.name for path in files), *([LEARNT] if (folder / LEARNT).is_file() else [])]
    # Modules beside the entry belong to it if its code imports them.
    also = "".join(f"import {path.stem}  # noqa: F401\n" for path in files if path.suffix == ".py")
    text = ENTRY.format(name=Path(model.rpartition(":")[0] or model).name, also=also.rstrip("\n"), files=tuple(names))
    (folder / "entry.py").write_text(text, "utf-8")
    (folder / "config.toml").write_text(f'entry = "entry.py:Entry"\nchallenge = "{about["challenge"]}"\n', "utf-8")
    (folder / ABOUT).write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", "utf-8")
    library.add_used(folder)


def _choose(found: Path, book: Rulebook, about: dict[str, Any]) -> Fitted:
    """The window, pooling and rule with the best score; written into ``about``."""
    try:
        fitted = json.loads((found / FITTED).read_text("utf-8"))
        with np.load(found / POSTERIORS, allow_pickle=False) as file:
            tables = {name: file[name] for name in file.files}
        truth, times = tables["truth"], {int(n): list(map(int, each)) for n, each in fitted["times"].items()}
        group = tables["subject"].astype(int) * 1000 + tables["block"].astype(int)
        flat = bool(fitted["flat"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"the box did not give back what a rule is fitted from ({type(error).__name__})") from error
    score = _objective(book, about["answers"])
    best: tuple[float, Fitted, int] | None = None
    for length_n, looks in times.items():
        grid_s = np.array(looks) / book.rate
        logs = np.log(tables[f"p_{length_n}"])
        pooled = np.cumsum(logs, axis=1) / np.arange(1, len(looks) + 1)[:, None]
        for sums, each in ((False, softmax(logs)), (True, softmax(pooled))):
            policy = fit_policy(each, truth, grid_s, score, group=group, grid_n=GRID_N)
            answer, length_s = policy.play(each, grid_s)
            value = float(
                np.mean([score(truth[group == g], answer[group == g], length_s[group == g]) for g in set(group)])
            )
            told = Fitted(
                length_n / book.rate,
                policy,
                sums,
                value,
                float(np.mean(answer == truth)),
                float(length_s.mean()),
                len(truth),
                about["fit"],
            )
            if best is None or value > best[0]:
                best = value, told, length_n
    assert best is not None
    _, told, length_n = best
    about |= {"policy": told.policy.to_dict(), "pooled": told.pooled, "flat": flat}
    about |= {"length_n": length_n, "times_n": times[length_n]}
    return told


def _objective(book: Rulebook, answers: list[str]) -> Callable[..., float]:
    """The contest's own score of one block, of class indices (-1: none) and the seconds used."""
    missing_n = round((book.missing_s or book.limit_s or 10.0) * book.rate)
    floor_n = round(book.floor_s * book.rate)
    one, nobody = np.ones((1, 1), dtype=np.int64), np.ones(1, dtype=np.int64)
    known: dict[tuple[int, int, float], dict[str, int]] = {}

    def marks(was: int, said: int, used_s: float) -> dict[str, int]:
        """What the contest counts for a trial; the same ones come thousands of times."""
        if (was, said, used_s) not in known:
            status: Status = "in_time" if said >= 0 else "missing"
            length_n = max(round(used_s * book.rate), floor_n) if said >= 0 else missing_n
            text = answers[said] if said >= 0 else None
            trial = Trial(1, 1, 1, answers[was], text, was == said, length_n, status, book.rate)
            known[was, said, used_s] = book.scoring.marks(book, trial)
        return known[was, said, used_s]

    def score(truth: NDArray[Any], answer: NDArray[Any], length_s: NDArray[Any]) -> float:
        rows = [marks(*row) for row in zip(truth.tolist(), answer.tolist(), length_s.tolist(), strict=True)]
        columns = {name: np.array([[row[name] for row in rows]]) for name in rows[0]}
        sums = {name: column[:, None] for name, column in book.scoring.block(book, columns).items()}
        return float(book.scoring.rates(book, sums, one, nobody)["score"][0])

    return score
