"""The history of a contest in the reader's language. What is kept is a name and two values; here they become words."""

from __future__ import annotations

import time
from functools import partial
from typing import NamedTuple

from bciarena.service.models import Change
from bciarena.service.texts import LANGUAGES, say

NAMES = {
    "title": "organise.title", "title_zh": "organise.title_zh", "about": "organise.about",
    "about_zh": "organise.about_zh", "text data": "organise.data_text", "text data_zh": "organise.data_text_zh",
    "awards": "jury.awards", "joining": "organise.joining", "one_team": "rules.one_team",
    "organiser": "organise.people", "phase": "organise.phase_name", "images": "organise.images",
    "rulebook": "organise.rulebook", "starts_at": "organise.starts", "ends_at": "organise.ends",
    "freezes_at": "facts.freezes", "late_until": "facts.late", "daily_limit": "facts.daily",
    "total_limit": "facts.total", "published": "organise.board", "counts": "facts.counts",
    "revealed": "organise.revealed", "data": "facts.data", "order": "stage.order", "stage": "stage.title",
    "turn": "stage.turn_kept", "admits": "facts.admits", "first": "organise.first", "of": "organise.of",
    "carries": "organise.carries", "public": "organise.parts", "scores": "organise.scores",
    "output": "organise.output", "audit": "organise.audit", "waiver": "organise.waiver", "budget_s": "organise.budget",
    "cores": "organise.cores", "memory_mib": "organise.memory", "pythons": "organise.pythons",
    "pyc_only": "organise.pyc_only", "fixed_names": "organise.fixed_names", "limits": "organise.limits",
    "strict": "history.strict",
    "terms": "organise.terms", "calibration": "organise.calibration",
}  # fmt: skip
VALUES = {
    "joining": "organise.joining_", "counts": "facts.", "stage": "organise.stage_", "admits": "organise.admits_",
    "carries": "organise.carries_", "scores": "organise.scores_", "output": "organise.output_",
}  # fmt: skip
WORDS = {"True": "history.yes", "False": "history.no"}
BOARD = {"True": "organise.board_public", "False": "organise.board_hidden"}
FILE, DATES = "download ", ("starts_at", "ends_at", "freezes_at", "late_until")


class Told(NamedTuple):
    """A line of the history, in words."""

    at: float
    who: str
    what: str
    before: str
    after: str


def told(lang: str, change: Change) -> Told:
    """A change as the reader's language says it; what has no words there stays as it was kept."""
    t, knows = partial(say, lang), LANGUAGES[lang].__contains__
    phase, colon, key = change.what.partition(": ")
    if not colon:
        phase, key = "", change.what
    name = t("history.file", name=key.removeprefix(FILE)) if key.startswith(FILE) else key
    if key in NAMES:
        name = t(NAMES[key])
    if phase:
        stage = f"phase_name.{phase}"
        name = f"{t(stage) if knows(stage) else phase}: {name}"

    def value(kept: str) -> str:
        if key in DATES and kept not in ("", "None"):
            return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(float(kept)))
        if kept in ("None", "", "{}", "[]"):
            return ""
        words = BOARD if key == "published" else WORDS
        if kept in words:
            return t(words[kept])
        if key == "turn":
            team, _, rest = kept.partition(": ")
            what, _, why = rest.partition(": ")
            return f"{team}: {t(f'stage.departed_{what}', why=why)}" if knows(f"stage.departed_{what}") else kept
        for word in (VALUES.get(key, "") + kept, f"stage.open_{kept}" if key == "stage" else ""):
            if key in VALUES and knows(word):
                return t(word)
        return kept

    return Told(change.created_at, change.who, name, value(change.before), value(change.after))
