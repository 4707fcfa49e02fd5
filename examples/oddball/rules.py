"""Which of six lights does a person wait for? Lights flash one after another; answer as soon as you know."""

from bciarena.contests.rulebook import Rule, build, mask

from .score import OddballScore

LIGHTS = 6
FLASH = range(1, LIGHTS + 1)
"""Codes of the flashes: the stream tells which light flashed."""
ONSET = {100 + light: str(light) for light in FLASH}
"""Codes that open a trial: the light to wait for."""
RELEASED = 200

RULEBOOK = build(
    Rule("id", "oddball/1", "an example: not one of the robot contests"),
    Rule("title", "Oddball: the light waited for", "a P300 paradigm"),
    Rule("title_zh", "Oddball：等待的是哪盏灯", "P300 范式"),
    Rule("channels", ("Fz", "Cz", "P3", "Pz", "P4", "PO7", "PO8", "Oz"), "eight electrodes, as P300 spellers use"),
    Rule("rate", 250, "samples per second"),
    Rule("packet_n", 25, "100 ms a packet"),
    Rule("truth", ONSET, "101-106: which light"),
    Rule("mask", mask(dict.fromkeys(ONSET, RELEASED)), "a trial begins at 200; flashes 1-6 stay"),
    Rule("masked", frozenset({RELEASED}), "200 stands where the truth was"),
    Rule("vocabulary", {str(light): f"light {light}" for light in FLASH}, "1 to 6"),
    Rule("answers", "integer", "the light's number"),
    Rule("limit_s", 12.0, "ten rounds of flashes"),
    Rule("limit_covers_thinking", True, "a person who spells waits for the computer, too"),
    Rule("missing_s", 12.0, "no report: wrong, the whole time"),
    Rule("closing", None, "the next trial ends a trial"),
    Rule("decides", "first", "the first report counts"),
    Rule("scoring", OddballScore(), "right lights per minute, less a penalty for wrong ones"),
    Rule("unit", "lights/min", "of the score"),
    Rule("shard", "subject", "subjects are scored alone and averaged"),
    Rule("names_subject", True, "subjects are numbered"),
    Rule("finish", "flag", "on the last packet"),
    Rule("dialect", "D", "a plain class"),
    Rule("python", "", "any"),
    Rule("classes", ("Entry",), "what a contestant writes"),
    Rule("pause_s", 2.0, "to find the next light"),
    Rule("penalty", 1, "a wrong light must be deleted: it costs a right one"),
)
