// What the stages say, in both languages: a subject reads one of them.
export const WAITING = "waiting for the operator / 等待操作员开始";
export const LOST = "connection lost, data so far is kept / 连接中断，已有数据已保留";

export const SAID = {
  left_hand: "left hand / 左手", right_hand: "right hand / 右手", feet: "feet / 双脚",
  left_flexion: "left elbow / 左臂屈肘", right_flexion: "right elbow / 右臂屈肘",
  left_fist: "left fist / 左手握拳", right_fist: "right fist / 右手握拳",
  eyes_open: "eyes open / 睁眼", eyes_closed: "eyes closed / 闭眼",
  moved: "moved / 移动", passed: "passed / 传球成功", intercepted: "intercepted / 被截断",
  goal: "GOAL! / 进球！", saved: "saved / 被扑出", blocked: "blocked / 被挡出", wide: "wide / 射偏",
};

export const ANSWERS = {
  imagery: { 201: "left_hand", 202: "right_hand", 203: "feet" },
  rehab: { 1: "left_flexion", 2: "right_flexion", 3: "left_fist", 4: "right_fist" },
};

// Turing, Table 3: what the subject does.
export const TASKS = {
  1: "imagine left / 想象左手", 2: "imagine right / 想象右手", 3: "look at left / 注视“左”", 4: "look at right / 注视“右”",
  5: "look at pass / 注视“传球”", 6: "look at shoot / 注视“射门”", 7: "rest / 空闲",
};

// A line of text on a dark plate, large enough to read from a metre.
export function plate(pen, text, x, y, size, colour = "#e6edf3") {
  if (!text) return;
  pen.font = `600 ${size}px system-ui, "Noto Sans CJK SC", sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const width = pen.measureText(text).width + size * 1.4;
  pen.fillStyle = "rgba(1,4,9,.78)";
  pen.beginPath();
  pen.roundRect(x - width / 2, y - size * 0.85, width, size * 1.7, size * 0.85);
  pen.fill();
  pen.fillStyle = colour;
  pen.fillText(text, x, y + size * 0.05);
  pen.textBaseline = "alphabetic";
}
