"""Synchronous 40-key SSVEP, as the contests of 2021 to 2023 had it: the stream tells when a trial begins and ends."""

from math import pi

from bciarena.contests.rulebook import Rule, build, mask
from bciarena.recording.montages import CAP64

from .score import SsvepScore

KEYS = 40
FREQUENCY_HZ = tuple(round(8 + 0.2 * index, 1) for index in range(KEYS))
PHASE_RAD = tuple(0.5 * pi * (index % 4) for index in range(KEYS))
CODES = range(1, KEYS + 1)
START, END = 240, 241

RULEBOOK = build(
    Rule("id", "ssvep2021/1", "the synchronous contest, apart from the asynchronous one of later years"),
    Rule("title", "Synchronous 40-target SSVEP (2021-2023)", "one key flickers in every trial"),
    Rule("title_zh", "同步 40 目标 SSVEP（2021-2023）", "每个试次都有一个目标闪烁"),
    Rule("channels", CAP64, "64 rows and the trigger"),
    Rule("rate", 250, "down from 1000 Hz"),
    Rule("packet_n", 10, "40 ms a packet"),
    Rule("truth", {code: str(code) for code in CODES}, "the key's label stands at the onset of the flicker"),
    Rule("idle", frozenset(), "every trial flickers"),
    Rule("mask", mask(dict.fromkeys(CODES, START)), "the stream says 240 at the start of every trial, 241 at its end"),
    Rule("masked", frozenset({START}), "240 stands where the label was"),
    Rule("vocabulary", {str(k): f"{FREQUENCY_HZ[k - 1]:.1f} Hz" for k in CODES}, "labels 1 to 40"),
    Rule("answers", "integer", "the label"),
    Rule("limit_s", 4.0, "less than 4 s of data"),
    Rule("limit_covers_thinking", False, "data, not computing"),
    Rule("missing_s", 4.0, "no report: wrong, 4 s"),
    Rule("closing", None, "241 is in the stream, but limits nothing"),
    Rule("decides", "first", "the first report counts"),
    Rule("scoring", SsvepScore(), "ITR per block without any pause, the mean over blocks"),
    Rule("unit", "bits/min", "of the ITR"),
    Rule("shard", "subject", "blocks are scored alone"),
    Rule("names_subject", True, "personID"),
    Rule("finish", "flag", "finishedFlag on the last packet"),
    Rule("dialect", "B", "getData, report"),
    Rule("python", "3.8", "the contest's interpreter"),
    Rule(
        "classes",
        ("AlgorithmImplement", "AlgorithmImplementSSVEP", "AlgorithmImplement_SSVEP"),
        "the names used over the years",
    ),
)
