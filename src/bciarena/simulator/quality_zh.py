"""The quality page in Chinese: phrases as the page says them, # for a number ("3-45" is two: 3 and -45)."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")

PHRASES = {
    "is this EEG like EEG?": "这些脑电像真实脑电吗？",
    "Measured on the recordings alone, beside what was published about people: ": (
        "只测量记录本身，与已发表的人体数据对照："
    ),
    "every measure inside": "所有指标均在范围内",
    "# of # measures outside": "#/# 项指标超出范围",
    "measure": "指标",
    "here": "本数据",
    "people": "人体范围",
    "source": "来源",
    "inside": "范围内",
    "outside": "超出范围",
    "# to #": "# 至 #",
    "A stretch of EEG": "一段脑电",
    "Spectra": "频谱",
    "Topographies": "地形图",
    "Against the average of the scalp channels.": "以头皮通道平均为参考。",
    " Grey: a channel that recorded nothing.": "灰色：没有记录到信号的通道。",
    "Change of power around imagery": "运动想象前后的功率变化",
    "Against # to # s before the onset of imagery.": "相对于想象开始前 # 至 # 秒。",
    "Flicker response at Oz by harmonic": "Oz 处各次谐波的闪烁响应",
    "Power at the flicker's frequency and its multiples over the power # to # Hz beside them.": (
        "闪烁频率及其倍频处的功率，与两侧 # 至 # Hz 处功率之比。"
    ),
    "High-passed at # Hz. One row is # uV; what goes further is cut.": "# Hz 高通。每行为 # uV，超出部分截去。",
    "High-passed at # Hz. One row is # uV (ECG # uV); what goes further is cut.": (
        "# Hz 高通。每行为 # uV（ECG 为 # uV），超出部分截去。"
    ),
    "dead": "无信号",
    "blue # dB, white #, red # dB": "蓝 # dB，白 #，红 # dB",
    "blue # %, white #, red # %": "蓝 # %，白 #，红 # %",
    "white #, red #": "白 #，红 #",
    "aperiodic exponent at C#, ## Hz": "C# 处非周期指数，## Hz",
    "usual for scalp EEG, as fitted by Donoghue #": "头皮脑电的常见值，按 Donoghue # 的方法拟合",
    "C#, ## Hz, rms": "C#，## Hz，均方根",
    "eegmmidb, BUPT and Nakanishi recordings": "eegmmidb、BUPT 与 Nakanishi 的记录",
    "## Hz power (dB)": "## Hz 功率（dB）",
    "## Hz, left less right hand (dB)": "## Hz，左手减右手（dB）",
    "left hand, C#": "左手，C#",
    "right hand, C#": "右手，C#",
    "mu power, other side of the hand": "mu 功率，手的对侧",
    "mu power, other side less same side": "mu 功率，对侧减同侧",
    "mu, other side less same side": "mu，对侧减同侧",
    "ERD: Pfurtscheller #; bounds ours, wide": "ERD：Pfurtscheller #；范围由我们放宽设定",
    "flicker response (uV)": "闪烁响应（uV）",
    "flicker at Oz, fundamental over its surroundings": "Oz 处闪烁基频与邻近频率之比",
    "BUPT and Nakanishi recordings": "BUPT 与 Nakanishi 的记录",
    "flicker delay from phases": "由相位估计的闪烁延迟",
    "Wang #'s recordings: # s": "Wang # 的记录：# 秒",
    "agreement of # phases with the table": "# 个相位与编码表的一致程度",
    "JFPM coding, Chen #; bound ours": "JFPM 编码，Chen #；界限由我们设定",
    "Oz, generated": "Oz，生成",
    "Oz, eyes open": "Oz，睁眼",
    "Oz, eyes closed": "Oz，闭眼",
    "alpha at Oz, eyes closed over open": "Oz 处 alpha，闭眼与睁眼之比",
    "larger: Barry #; bounds ours, wide": "闭眼更大：Barry #；范围由我们放宽设定",
    "alpha peak, eyes closed": "闭眼时的 alpha 峰",
    "Haegens #: # Hz on average": "Haegens #：平均 # Hz",
    "our own bound: a fake is not told by its mean spectrum": "界限由我们设定：不能仅凭平均频谱识别伪造",
    "generated against real spectra at Oz, rms": "Oz 处生成与真实频谱之差，均方根",
}


def chinese(phrase: str) -> str:
    """A phrase of the page in Chinese; names of channels and the like, which are no phrases, as they are."""
    numbers = iter(NUMBER.findall(phrase))
    found = PHRASES.get(NUMBER.sub("#", phrase))
    return phrase if found is None else re.sub("#", lambda _: next(numbers), found)
