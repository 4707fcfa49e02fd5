"""docs/rules.md, made from the rulebooks so that page and code cannot drift apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from bciarena.contests import RULEBOOKS, Rulebook, contest
from bciarena.contests.scoring import Scoring

HEAD = """# The rules

This page is made from the code by `arena challenges --markdown`; a test compares the two. Every field is listed
with the clause it rests on: the contest's own words, or the ruling (R1-R21) where the text is silent or contradicts
itself.

## Rulings for all contests
| | where the texts are silent or ambiguous | reading |
|---|---|---|
"""

RULINGS = {
    "R1": ("from which sample a trial's length counts", "from the packet after the one that holds its opening code"),
    "R2": ('"below 4 s"', "limits are exclusive: exactly 4.000 s is late"),
    "R3": ("a report right after the next trial's trigger packet", "still belongs to the earlier trial"),
    "R4": ("a block whose length is a multiple of the packet", "ends in a full packet; no packet is empty"),
    "R5": ("reports after the finish flag", "belong to the trial of that position, normally the last"),
    "R12": ('"P below 1/M"', "strictly below"),
    "R14": ("names of the finish flag", "all of them are offered"),
    "R15": ("a trial that hands out no data of its own", "can get no report and is missing"),
    "R16": (
        "what an answer may be",
        "integers or integral floats, or texts, as the contest asks; others are invalid, wrong",
    ),
    "R17": ("order", "subjects by sorted folder, blocks by number; EEG goes out bit for bit"),
    "R18": ("the end", "an early return is fine; after the finish flag nothing but reports counts"),
    "R19": (
        "missing answers, means",
        "as long as the limit; rates per block, then mean; subjects: mean of their blocks",
    ),
}
"""Where the texts are silent or ambiguous: what about, and the reading; true of every contest."""

GLOSSARY = """
## Glossary of the contest texts
试次 trial - 数据包 packet - 触发/标签 trigger (code) - 反馈/报告 report - 误判 wrong - 超时 late - 未反馈 missing -
虚警率 false positive rate - 信息传输速率 information transfer rate - 被试/受试者 subject - 闪烁试次 flicker trial -
静息态 rest, idle - 计算单元 entry - 分组 team - 提交/部署 submission - 排行榜 leaderboard - 配套代码 companion package
"""


WORDED = ("clauses", "constants", "formerly", "title", "title_zh", "id")
"""Fields that are no rule."""


def rules_page() -> str:
    """The whole page as Markdown."""
    return HEAD + _rulings(RULINGS) + "".join(map(_section, RULEBOOKS.values())) + GLOSSARY


def rules_of(book: Rulebook) -> list[tuple[str, str, str]]:
    """Every rule of a rulebook: field, value, clause."""
    names = [item.name for item in fields(book) if item.name not in WORDED]
    values = {name: getattr(book, name) for name in names} | dict(book.constants)
    return [(name, _show(value), book.clauses[name]) for name, value in values.items()]


def _rulings(found: Mapping[str, tuple[str, str]]) -> str:
    return "".join(f"| {name} | {about} | {reading} |\n" for name, (about, reading) in found.items())


def _section(book: Rulebook) -> str:
    rows = [f"| `{name}` | {value} | {clause} |" for name, value, clause in rules_of(book)]
    head = f"\n## {book.id} - {book.title} / {book.title_zh}\n"
    if rulings := _rulings(contest(book).rulings):
        head += "| | where the text is silent or ambiguous | reading |\n|---|---|---|\n" + rulings + "\n"
    return head + "| field | value | clause |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _show(value: Any) -> str:
    if isinstance(value, Scoring):
        return str(type(value).__doc__).splitlines()[0]
    if isinstance(value, dict):
        pairs = [f"{key}: {item}" for key, item in value.items()]
        return "; ".join(pairs) if len(pairs) <= 8 else f"{pairs[0]}; {pairs[1]}; ... {pairs[-1]} ({len(pairs)})"
    if isinstance(value, tuple) and len(value) == 256:
        changed = [f"{code}->{to}" for code, to in enumerate(value) if code != to]
        return ", ".join(changed) if len(changed) <= 8 else f"{changed[0]}, ... {changed[-1]} ({len(changed)} codes)"
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, frozenset):
        codes = sorted(value)
        return "none" if not codes else str(codes[0]) if len(codes) == 1 else f"{codes[0]}...{codes[-1]} ({len(codes)})"
    return str(value)
