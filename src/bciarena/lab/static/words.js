// What the usual stages say: the page brings the words, and a subject reads one language of each.
export const SAID = JSON.parse(document.getElementById("words").textContent);
export const WAITING = SAID.waiting;

// A sentence with its {values} filled in.
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// A line of text on a dark plate, large enough to read from a metre.
export function plate(pen, text, x, y, size, colour = "#e6edf3") {
  if (!text) return;
  const font = (px) => `600 ${px}px system-ui, "Noto Sans CJK SC", sans-serif`;
  pen.font = font(size);
  const most = pen.canvas.clientWidth * 0.96; // a long sentence is written smaller, not cut
  const share = pen.canvas.clientWidth ? Math.min(1, most / (pen.measureText(text).width + size * 1.4)) : 1;
  size *= share;
  pen.font = font(size);
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

// In English, of which there is always a font.
export const NO_FONT = "this machine has no font for the words of this page (Debian: apt install fonts-noto-cjk)";

// Whether there is a font for a text: letters without one are all drawn as the same box.
export function canWrite(text) {
  const letters = [...new Set(text)].filter((letter) => letter.codePointAt(0) > 0x2e80).slice(0, 4);
  const drawn = letters.map((letter) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 32;
    const pen = canvas.getContext("2d");
    pen.font = '24px system-ui, "Noto Sans CJK SC", sans-serif';
    pen.fillText(letter, 2, 26);
    return canvas.toDataURL();
  });
  return drawn.length < 2 || new Set(drawn).size > 1;
}
