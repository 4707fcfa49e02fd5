"""Three-class imagery as the 2022 framework counts it, for runs to be compared with results of that year."""

from bciarena.contests.rulebook import Rule, build, mask
from bciarena.recording.montages import CAP64

from .score import Imagery2022Score

CLASSES = {201: "left hand", 202: "right hand", 203: "feet"}
RELEASED = 249

RULEBOOK = build(
    Rule("id", "imagery2022/1", "the framework of 2022, which differs from the text of later years in three places"),
    Rule("title", "Three-class motor imagery as counted in 2022", "the framework's own scoring"),
    Rule("title_zh", "三分类运动想象（2022 年计分方式）", "2022 年框架的计分方式"),
    Rule("channels", CAP64, "64 rows and the trigger"),
    Rule("rate", 250, "samples per second"),
    Rule("packet_n", 10, "40 ms a packet"),
    Rule("truth", {code: str(code) for code in CLASSES}, "201-203 at the onset of imagery"),
    Rule("mask", mask(dict.fromkeys(CLASSES, RELEASED)), "249 in the stream"),
    Rule("masked", frozenset({RELEASED}), "249 stands where the truth was"),
    Rule("vocabulary", {str(code): words for code, words in CLASSES.items()}, "201, 202, 203"),
    Rule("answers", "integer", "the code"),
    Rule("counts_from", "trigger", "the framework takes the trigger's own sample as the trial's beginning"),
    Rule("limit_s", 5.0, "5 s, where the text of later years says 4"),
    Rule("limit_covers_thinking", False, "data, not computing"),
    Rule("missing_s", 5.0, "no report: wrong, 5 s"),
    Rule("closing", None, "the next trial ends a trial"),
    Rule("decides", "first", "the first report counts"),
    Rule("scoring", Imagery2022Score(), "ITR per block; 0 at or below chance"),
    Rule("unit", "bits/min", "of the ITR"),
    Rule("shard", "subject", "blocks are scored alone"),
    Rule("names_subject", True, "subject_id"),
    Rule("finish", "flag", "finish_flag on the last packet"),
    Rule("dialect", "A", "get_data, report"),
    Rule("python", "3.8", "the text's interpreter; 3.10 was in use, too"),
    Rule("classes", ("AlgorithmImplementMI", "AlgorithmImplement"), "the names used over the years"),
    Rule("rest_s", 0.5, "a simulated rest after every answer"),
)
