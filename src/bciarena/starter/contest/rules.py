"""The rules. Every value has beside it the sentence of your text that it rests on; the score is in score.py."""

from bciarena.contests.rulebook import Rule, build, mask

from .score import Score

CLASSES = {1: "left hand", 2: "right hand"}
"""Codes that open a trial, and what the subject does in it."""
RELEASED = 200
"""What entries see instead, so that the stream does not reveal the truth."""

RULEBOOK = build(
    Rule("id", "__NAME__/1", "a changed reading is a new number, never an edit"),
    Rule("title", "__TITLE__", "shown on pages"),
    Rule("title_zh", "__TITLE__", "shown on Chinese pages"),
    Rule("channels", ("FC3", "FCz", "FC4", "C3", "Cz", "C4", "CP3", "CPz", "CP4"), "the rows of a recording"),
    Rule("rate", 250, "samples per second"),
    Rule("packet_n", 10, "samples per packet: 40 ms"),
    Rule("truth", {code: str(code) for code in CLASSES}, "codes that open a trial, and the right answer"),
    Rule("idle", frozenset(), "codes that open a trial in which nothing must be reported"),
    Rule("mask", mask(dict.fromkeys(CLASSES, RELEASED)), "what each code becomes in the stream"),
    Rule("masked", frozenset({RELEASED}), "data with these codes has lost its truth and cannot be scored"),
    Rule("vocabulary", {str(code): words for code, words in CLASSES.items()}, "every answer, and what it means"),
    Rule("answers", "integer", "integer, text or text_or_integer"),
    Rule("limit_s", 4.0, "the data used must be shorter than this"),
    Rule("limit_covers_thinking", False, "whether computing time counts towards the limit"),
    Rule("missing_s", 4.0, "the length of a trial without report"),
    Rule("floor_s", 0.0, "a report's length counts as at least this"),
    Rule("late_answer", None, "what a late answer is recorded as; None: as given"),
    Rule("closing", None, "a code every trial must end with; None: none"),
    Rule("decides", "first", "the first report of a trial counts, or the last"),
    Rule("repeat_is_violation", False, "whether a second report is noted as a violation"),
    Rule("scoring", Score(), "see score.py"),
    Rule("unit", "bits/min", "of the score"),
    Rule("shard", "subject", "subjects may be played apart; None: not"),
    Rule("names_subject", True, "whether the stream says whose data it is"),
    Rule("finish", "flag", "the last packet carries the finish flag; object: an empty object follows"),
    Rule("dialect", "D", "a plain class; A, B or C for the interfaces of the robot contests"),
    Rule("python", "", "any; or a version such as 3.10"),
    Rule("classes", ("Entry",), "names of the class a contestant writes"),
    Rule("rest_s", 0.5, "a constant of the score: added to every answer's time"),
)
