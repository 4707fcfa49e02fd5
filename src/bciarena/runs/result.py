"""The content of score.json, as a dict that a notebook can display."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from bciarena.summary import summary, tally

if TYPE_CHECKING:
    from bciarena.runs.schema import BlockRow, SubjectRow, TrialRow
    from bciarena.verdicts import Verdict

BAR_W, BAR_H, WIDE = 6, 60, 600  # of the figure, in pixels


class Result(dict[str, Any]):
    """The result of a run: the content of score.json (see `bciarena.runs.schema.Score`).

    A notebook displays it as a small table with a figure: one bar per trial, as long as the data the answer used.
    """

    tally: Mapping[str, float] = MappingProxyType({})
    """What became of the trials and where the time went (see `bciarena.summary`); no part of score.json."""

    timing: Mapping[str, float] = MappingProxyType({})
    """Median and p99 of think time, and the reference load: how noisy the clock was; not in score.json."""

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: Literal["verdict"], /) -> Verdict: ...
        @overload
        def __getitem__(self, key: Literal["challenge", "reason", "unit", "sandbox"], /) -> str: ...
        @overload
        def __getitem__(self, key: Literal["score"], /) -> float: ...
        @overload
        def __getitem__(self, key: Literal["metrics"], /) -> dict[str, float]: ...
        @overload
        def __getitem__(self, key: Literal["subjects"], /) -> list[SubjectRow]: ...
        @overload
        def __getitem__(self, key: Literal["blocks"], /) -> list[BlockRow]: ...
        @overload
        def __getitem__(self, key: Literal["trials"], /) -> list[TrialRow]: ...
        @overload
        def __getitem__(self, key: Literal["notes"], /) -> list[str]: ...
        @overload
        def __getitem__(self, key: str, /) -> Any: ...
        def __getitem__(self, key: str, /) -> Any: ...

    @property
    def summary(self) -> str:
        """One line that explains the score."""
        return summary(self.tally or tally(self))

    def __repr__(self) -> str:
        metrics = "".join(f", {name} {value:.4g}" for name, value in self.get("metrics", {}).items())
        head = f"{self.get('challenge')} {self.get('verdict')}: score {self.get('score')} {self.get('unit')}"
        return f"<{head}{metrics}, {len(self.get('trials', []))} trials>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = [("score", f"{self['score']:.4g} {self['unit']}"), ("verdict", self["verdict"])]
        rows += [(name, f"{value:.4g}") for name, value in self["metrics"].items()]
        rows += [("reason", self["reason"])] * bool(self["reason"])
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
        caption = f"<caption>{escape(self['challenge'])}, {len(self['trials'])} trials</caption>"
        return f"<table>{caption}{cells}</table>{self._figure()}"

    def _figure(self) -> str:
        """Trials in playing order: height is the length that counted, blue right, red wrong, grey without answer."""
        trials = self["trials"]
        longest = max((trial["length_s"] or 0 for trial in trials), default=0)
        if not longest:
            return ""
        step = min(BAR_W, WIDE / len(trials))
        bars = []
        for number, trial in enumerate(trials):
            high = max(BAR_H * (trial["length_s"] or 0) / longest, 1)
            colour = "#2a6fb0" if trial["correct"] else "#b03a2e" if trial["answer"] is not None else "#999"
            words = f"trial {trial['trial']} of block {trial['block']}: {trial['answer']}, was {trial['truth']}"
            box = f'x="{number * step:.1f}" y="{BAR_H - high:.1f}" width="{step * 0.8:.1f}" height="{high:.1f}"'
            bars.append(f'<rect {box} fill="{colour}"><title>{escape(words)}</title></rect>')
        label = f"answers of {len(trials)} trials; the longest bar is {longest:.2f} s of data"
        size = f'width="{len(trials) * step:.0f}" height="{BAR_H}"'
        return f'<svg {size} role="img" aria-label="{label}">{"".join(bars)}</svg><p>{label}</p>'
