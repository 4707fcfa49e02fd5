// What the stages say, in both languages: a subject reads one of them.
export const WAITING = "waiting for the operator / 等待操作员开始";
export const LOST = "connection lost, data so far is kept / 连接中断，已有数据已保留";

export const SAID = {
  left_hand: "left hand / 左手", right_hand: "right hand / 右手", feet: "feet / 双脚",
  left_flexion: "left elbow / 左臂屈肘", right_flexion: "right elbow / 右臂屈肘",
  left_fist: "left fist / 左手握拳", right_fist: "right fist / 右手握拳",
  eyes_open: "eyes open / 睁眼", eyes_closed: "eyes closed / 闭眼",
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
