"""Windows of two seconds, one at a time and in order: which hand, or rest? In the form of streamed competitions.

A packet is a window. The packet before it has a mark in its trigger row, so that the first packet of a stream, which
has none before it, is not asked about.
"""

from bciarena.contests.rulebook import Rule, build, mask

from .score import StreamScore

CLASSES = {1: "left hand", 2: "right hand", 3: "rest"}
MARK = 9
WINDOW_N = 500

RULEBOOK = build(
    Rule("id", "streamed/1", "in the form of the streamed competitions of 2026"),
    Rule("title", "Streamed windows: left hand, right hand or rest", "a window at a time"),
    Rule("title_zh", "逐窗口流式判别：左手、右手或静息", "每次一个窗口"),
    Rule("channels", ("FC3", "FCz", "FC4", "C3", "Cz", "C4", "CP3", "CP4"), "eight electrodes over the motor cortex"),
    Rule("rate", 250, "samples per second"),
    Rule("packet_n", WINDOW_N, "2 s: a packet is a window"),
    Rule("truth", {code: str(code - 1) for code in CLASSES}, "the class of the window that follows, counted from 0"),
    Rule("mask", mask(dict.fromkeys(CLASSES, MARK)), "9: the next packet is a window that counts"),
    Rule("masked", frozenset({MARK}), "9 stands where the truth was"),
    Rule("vocabulary", {str(code - 1): text for code, text in CLASSES.items()}, "what predict(X) returns"),
    Rule("answers", "integer", "the class's number"),
    Rule("limit_s", 3.0, "right after the window, before the next"),
    Rule("limit_covers_thinking", False, "computing time is shown, and limited by the budget of the run"),
    Rule("missing_s", 2.0, "no answer: wrong"),
    Rule("closing", None, "the next window ends a window"),
    Rule("decides", "first", "one prediction per window"),
    Rule("scoring", StreamScore(), "balanced accuracy of each stream, the mean over streams"),
    Rule("unit", "share", "between 0 and 1"),
    Rule("shard", "subject", "streams are scored alone and averaged"),
    Rule("names_subject", False, "a stream does not say whose it is"),
    Rule("finish", "flag", "on the last packet"),
    Rule("dialect", "D", "a Solver with load_model(meta)"),
    Rule("python", "", "any"),
    Rule("classes", ("Solver",), "the class in submission.py"),
)
