"""Four-class upper-limb imagery for rehabilitation: flexion or fist, left or right."""

from __future__ import annotations

from bciarena.contests.rehab.score import RehabScore
from bciarena.contests.rulebook import Rule, build, mask
from bciarena.recording.montages import CAP77

CLASSES = {1: "left flexion", 2: "right flexion", 3: "left fist", 4: "right fist"}
RELEASED = 200

RULINGS = {
    "R11": ('rehab\'s "ITR = 0 below chance"', "concerns only the ITR shown beside the score"),
    "R20": ("rehab's zeros", "cue and rest within trials are 0; resting recordings and pauses keep their samples"),
}
"""Where the text is silent or ambiguous: what about, and the reading."""

RULEBOOK = build(
    Rule("id", "rehab/1", "基于非侵入式脑机接口的运动康复训练技术与系统赛项"),
    Rule("title", "Four-class rehabilitation imagery", "左/右手屈伸运动想象、左/右手握拳运动想象四类"),
    Rule("title_zh", "四分类康复运动想象", "左/右手屈伸运动想象、左/右手握拳运动想象四类"),
    Rule("channels", CAP77, "表 4 电极区域-导联名称（实际使用其中 77 导联）"),
    Rule("rate", 1000, "设备采样率为 1000Hz…未做降采样或其他滤波处理"),
    Rule("packet_n", 40, "数据包中包含 40ms 的实验EEG 数据（最后一个数据包长度可能小于 40ms）"),
    Rule("truth", {code: str(code) for code in CLASSES}, "3s 时打任务标签（1/2/3/4）"),
    Rule("mask", mask(dict.fromkeys(CLASSES, RELEASED)), "测试数据中 1234 会统一以“200”标签给出"),
    Rule("masked", frozenset({RELEASED}), "测试数据中 1234 会统一以“200”标签给出"),
    Rule(
        "vocabulary",
        {str(k): v for k, v in CLASSES.items()},
        "左手屈肘对应‘1’，右手屈对应‘2’，左手握拳对应‘3’，右手握拳对应‘4’",
    ),
    Rule("answers", "text_or_integer", "需要返回字符串类型的标签; R16: the integer 3 is taken for '3'"),
    Rule("limit_s", 4.0, "最多采集 4 秒的 EEG 数据（不含 4 秒）…该试次结果为-1; R2"),
    Rule("limit_covers_thinking", False, "已经获取了超过当前限制时间的 EEG 数据: data, not computing"),
    Rule("missing_s", 4.0, "未反馈结果，则判决结果将被记录为误判; shown with the whole 4 s"),
    Rule("late_answer", "-1", "否则该试次识别结果将被视为无效，该试次结果为-1"),
    Rule("closing", None, "a report until the next trial's data begins belongs to the trial; R3"),
    Rule("decides", "first", "在一个试次时间内，参赛算法需要反馈一次结果"),
    Rule("repeat_is_violation", False, "每个 trial 提交一次结果: the first counts"),
    Rule("scoring", RehabScore(), "完全正确 100 分, 仅侧别正确 50 分, 完全错误 0 分, 全部 block 加总; R11"),
    Rule("unit", "points", "总成绩将由所有被试的全部 block 的成绩加总得出"),
    Rule("shard", "subject", "points are summed over trials"),
    Rule("names_subject", True, "subject_id: 当前数据包的被试编号"),
    Rule("finish", "object", "finished_flag = true 时…需要停止处理并自行退出; an object without data; R14"),
    Rule("dialect", "C", "await get_data, await report"),
    Rule("python", "3.10", "text silent on the version; the contest's interpreter is 3.10"),
    Rule("classes", ("AlgorithmImplement",), "the class a contestant writes"),
    Rule("exact_points", 100, "完全正确 100 分"),
    Rule("side_points", 50, "左右正确 50 分"),
    Rule(
        "formerly",
        frozenset({"5af3f0457b734703edb72c7a1fa305270f114901068b5f5c919246f58f1aaa00"}),
        "the digest before it covered the score",
    ),
)
