// One scene of the game, seen from above: share runs from 0 (before) to 1 (after).
const EDGE = 4;
const LINES = [0.8, 0.6, 0.36, 0.15]; // robots 1, 2 attack, 3 defends, 4 keeps
const COLOURS = ["#4f9cf9", "#36c5f0", "#ef6a5a", "#f0a63a"];

export function draw(canvas, scene, share) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  ground(pen, w, h);
  const ease = share * share * (3 - 2 * share);
  const x = (column) => w / 2 + (column * w) / (2 * EDGE + 2);
  const columns = scene.before.columns.map((column, k) => column + (scene.after.columns[k] - column) * ease);
  const r = Math.min(w, h) * 0.05;
  columns.forEach((column, k) => robot(pen, x(column), h * LINES[k], r, COLOURS[k], k + 1, k + 1 === scene.controlled));
  const holder = scene.before.holder - 1;
  let [bx, by] = [x(columns[holder]), h * LINES[holder] - r * 1.6];
  const to = scene.outcome === "passed" ? 1 - holder : scene.outcome === "intercepted" ? 2 : null;
  const [gx, gy] = scene.target !== null ? [x(scene.target), h * 0.03] : to !== null ? [x(columns[to]), h * LINES[to] - r * 1.6] : [bx, by];
  [bx, by] = [bx + (gx - bx) * ease, by + (gy - by) * ease];
  pen.fillStyle = "#fff";
  pen.strokeStyle = "#111";
  pen.lineWidth = 2;
  pen.beginPath(); pen.arc(bx, by, r * 0.42, 0, 7); pen.fill(); pen.stroke();
}

function ground(pen, w, h) {
  for (let k = 0; k < 10; k++) {
    pen.fillStyle = k % 2 ? "#1d7040" : "#196237";
    pen.fillRect(0, (k * h) / 10, w, h / 10 + 1);
  }
  pen.strokeStyle = "rgba(255,255,255,.75)";
  pen.lineWidth = 2;
  pen.strokeRect(8, 8, w - 16, h - 16);
  pen.beginPath(); pen.moveTo(8, h / 2); pen.lineTo(w - 8, h / 2); pen.stroke();
  pen.beginPath(); pen.arc(w / 2, h / 2, h * 0.1, 0, 7); pen.stroke();
  const column = w / (2 * EDGE + 2); // the goal's mouth covers columns -1 to 1
  pen.strokeRect(w / 2 - 3 * column, 8, 6 * column, h * 0.18);
  pen.lineWidth = 6;
  pen.strokeStyle = "#fff";
  pen.beginPath(); pen.moveTo(w / 2 - 1.5 * column, 6); pen.lineTo(w / 2 + 1.5 * column, 6); pen.stroke();
}

function robot(pen, x, y, r, colour, number, asked) {
  if (asked) {
    pen.strokeStyle = "#ffd866"; pen.lineWidth = 5;
    pen.beginPath(); pen.arc(x, y, r * 1.5, 0, 7); pen.stroke();
  }
  pen.fillStyle = colour;
  pen.beginPath(); pen.roundRect(x - r * 0.9, y - r * 0.9, 1.8 * r, 1.8 * r, r * 0.5); pen.fill();
  pen.fillStyle = "#0d1117";
  pen.font = `bold ${r}px system-ui`;
  pen.textAlign = "center"; pen.textBaseline = "middle";
  pen.fillText(number, x, y);
}
