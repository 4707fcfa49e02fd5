"""BCI Turing test: which of seven tasks did the subject perform while robots play soccer?"""

from __future__ import annotations

from fractions import Fraction

from bciarena.contests.rulebook import Rule, build, mask
from bciarena.contests.turing.score import TuringScore
from bciarena.recording.montages import CAP64

TASKS = {
    1: "Left-MI",
    2: "Right-MI",
    3: "Left-SSVEP",
    4: "Right-SSVEP",
    5: "Pass-SSVEP",
    6: "Shoot-SSVEP",
    7: "Idle",
}
"""Table 3: bits 2-0 of the task code."""

BEHAVIOURS: dict[int, tuple[str, str, tuple[int, ...]]] = {
    1: ("left", "left", (1, 3, 7)),
    2: ("left", "right", (1, 2, 3, 4)),
    3: ("right", "left", (1, 2, 3, 4)),
    4: ("right", "right", (2, 4, 7)),
    5: ("pass", "pass", (5, 7)),
    6: ("shoot", "left", (6, 3, 1, 7)),
    7: ("shoot", "right", (6, 4, 2, 7)),
    8: ("left", "shoot", (6, 3, 1, 7)),
    9: ("right", "shoot", (6, 4, 2, 7)),
}
"""Table 2: bits 6-3 of the task code -> what robots 1 and 2 do, and the tasks the subject may perform."""

SSVEP_HZ = {3: 15.4, 4: 15.5, 5: 15.6, 6: 15.7}
"""Flicker frequency of each SSVEP task; all start at phase 0."""

LUMINANCE = ((1 - 0.618) / 2, (1 + 0.618) / 2)
"""Grey of a flicker target: -0.618 to 0.618 on a scale from -1 (black) to 1 (white)."""

RULINGS = {
    "R6": ("a second report in a turing trial", "the first counts, the violation is noted"),
    "R7": ("time of wrong turing trials", "counts in L"),
    "R21": (
        "turing codes",
        "training: bits 2-0 are the task (9 left, 34 right); scored: a behaviour outside 1-9 is an error",
    ),
}
"""Where the text is silent or ambiguous: what about, and the reading."""

RULEBOOK = build(
    Rule("id", "turing/1", "脑机图灵测试赛题说明"),
    Rule("title", "BCI Turing test", "脑机图灵测试问题"),
    Rule("title_zh", "脑机图灵测试", "脑机图灵测试问题"),
    Rule("channels", CAP64, "表 4 导联序号-导联名称；第 65 导联为 trigger 信息"),
    Rule("rate", 250, "原始采样率为 1000Hz,数据集中降采样到 250Hz"),
    Rule("packet_n", 10, "数据包中包含 40ms 的实验 EEG 数据(最后一个数据包长度可能小于 40ms)"),
    Rule(
        "truth",
        {code: str(code & 7) for code in range(128) if code & 7},
        "当 trigger < 128 时, bit6-bit3 标记机器人行为, bit2-bit0 标记被试执行的 BCI 任务; R21",
    ),
    Rule("idle", frozenset(), "Idle is task 7 and must be reported like the others (表 3)"),
    Rule(
        "mask",
        mask({code: code & 0b1111000 for code in range(128)}),
        "数据发布给参赛队伍时, bit2-bit0 置为 0",
    ),
    Rule("masked", frozenset(range(8, 128, 8)), "bit2-bit0 置为 0: no task is left"),
    Rule(
        "forbidden",
        frozenset(code for code in range(1, 128) if code >> 3 not in BEHAVIOURS),
        "表 2: 机器人行为 1-9，其余为系统预留; R21",
    ),
    Rule("vocabulary", {str(k): v for k, v in TASKS.items()}, "报告对应的数值（数值 1-7，详见表 3）"),
    Rule("answers", "integer", "报告对应的数值（数值 1-7）; R16"),
    Rule("limit_s", 5.0, "最多采集 5 秒的 EEG 数据 (不含 5 秒); R2"),
    Rule("limit_covers_thinking", False, "单个 trial 所用数据段长度为…所获取的 EEG 数据长度"),
    Rule("missing_s", 5.0, "text silent; R19: a trial without report is wrong and takes 5 s"),
    Rule("closing", None, "最迟在接收到下一 trigger 时进行反馈报告; R3"),
    Rule("decides", "first", "在一个试次时间内, 参赛者只能也必须报告一次结果; R6"),
    Rule("repeat_is_violation", True, "只能也必须报告一次结果; R6: logged and shown, changes nothing"),
    Rule("scoring", TuringScore(), "S_b = K·N_b/L_b（K = 200），N_b = ceil(0.8·N_bt); R7"),
    Rule("unit", "points", "K = 200 为评分系数"),
    Rule("shard", "subject", "each subject's blocks are scored alone and averaged"),
    Rule("names_subject", True, "subject_id: 当前数据来源受试者序号"),
    Rule("finish", "flag", "所有实验数据发送完毕后，finish_flag 将被置为 True; R14"),
    Rule("dialect", "A", "TaskInterface: get_data, report"),
    Rule("python", "3.8", "需提交基于 python 3.8 版本的扩展名为.pyc 的文件"),
    Rule(
        "classes",
        ("AlgorithmImplementTuring", "AlgorithmImplement_Turing", "AlgorithmImplement"),
        "the class a contestant writes",
    ),
    Rule("coefficient", 200, "K = 200 为评分系数"),
    Rule("target", Fraction(4, 5), "N_b = ceil(0.8·N_bt)"),
    Rule(
        "formerly",
        frozenset({"9621b06273c5649aa6d35c5233ccec2211752aa88529563f9a7c360503c21d21"}),
        "the digest before it covered the score",
    ),
)
