// Two-a-side robot soccer with four flicker targets. Positions and ball glide during the action phase.
import { RANGES, level, luminance } from "./luminance.js";
import { drawPatch, fit, grey } from "./player.js";

const EDGE = 4;
const LINES = [0.78, 0.58, 0.34, 0.16]; // robots 1, 2 attack, 3 defends, 4 keeps; share of the field's height
const COLOURS = ["#4f9cf9", "#36c5f0", "#ef6a5a", "#e8a33d"];
const TARGETS = { 3: ["←", 15.4], 4: ["→", 15.5], 5: ["⇄", 15.6], 6: ["◎", 15.7] };

export class TuringStage {
  constructor(canvas) {
    this.canvas = canvas;
    this.goals = 0;
    this.patch = false;
    new ResizeObserver(() => { this.pen = fit(canvas); }).observe(canvas);
    this.pen = fit(canvas);
  }

  begin() { this.goals = 0; this.said = null; this.counted = -1; }

  message(text) { this.note = text; }

  // Grey level of each flicker target; still targets stand at the middle of the range.
  levels(step, timeS) {
    const [low, high] = RANGES.turing;
    return Object.fromEntries(Object.entries(TARGETS).map(([task, [, hz]]) =>
      [task, level(step?.kind === "flicker" ? luminance(timeS, hz, 0, RANGES.turing) : (low + high) / 2)]));
  }

  draw(step, timeS, player) {
    const [pen, w, h] = [this.pen, this.canvas.clientWidth, this.canvas.clientHeight];
    pen.fillStyle = "#0d1117";
    pen.fillRect(0, 0, w, h);
    const field = { x: w * 0.2, y: h * 0.06, w: w * 0.6, h: h * 0.88 };
    this.field(pen, field);
    const game = step?.params?.game;
    if (step?.kind === "cue") this.said = null;
    if (game) this.play(pen, field, step, game, timeS, player);
    this.targets(pen, w, h, step, timeS, game);
    pen.textAlign = "center";
    pen.fillStyle = "#e6edf3";
    pen.font = `${h * 0.035}px system-ui`;
    pen.fillText(this.note ?? this.words(step, game), w / 2, h * 0.045);
    pen.textAlign = "left";
    pen.fillText(`goals / 进球 ${this.goals}`, 16, h - 20);
    drawPatch(this, pen, this.canvas, step?.kind === "flicker" && luminance(timeS, step.params.hz, 0, [0, 1]) > 0.5);
  }

  words(step, game) {
    if (!game) return "";
    if (step.kind === "cue") return `${game.task_name}`;
    if (step.kind === "imagery") return step.params.limb === "left_hand" ? "⇦ imagine / 想象左手" : "imagine / 想象右手 ⇨";
    if (step.kind === "idle") return "idle / 空闲";
    if (step.kind === "action") return this.understood(game) ? game.outcome : `${game.outcome}: not understood / 未识别`;
    return "";
  }

  // A goal counts only when the decoder understood what the subject did in that trial.
  understood(game) { return Number(this.said) === game.task; }

  field(pen, f) {
    const grass = pen.createLinearGradient(0, f.y, 0, f.y + f.h);
    grass.addColorStop(0, "#14532d");
    grass.addColorStop(1, "#1b6b3a");
    pen.fillStyle = grass;
    pen.beginPath(); pen.roundRect(f.x, f.y, f.w, f.h, 12); pen.fill();
    pen.strokeStyle = "rgba(255,255,255,.55)";
    pen.lineWidth = 3;
    pen.strokeRect(f.x + 10, f.y + 10, f.w - 20, f.h - 20);
    pen.beginPath(); pen.moveTo(f.x + 10, f.y + f.h / 2); pen.lineTo(f.x + f.w - 10, f.y + f.h / 2); pen.stroke();
    pen.beginPath(); pen.arc(f.x + f.w / 2, f.y + f.h / 2, f.h * 0.09, 0, 7); pen.stroke();
    const column = f.w / (2 * EDGE + 2); // the goal's mouth covers columns -1 to 1
    pen.strokeStyle = "#fff";
    pen.lineWidth = 6;
    pen.strokeRect(f.x + f.w / 2 - 1.5 * column, f.y + 2, 3 * column, 18);
  }

  at(f, column) { return f.x + f.w / 2 + (column * f.w) / (2 * EDGE + 2); }

  play(pen, f, step, game, timeS, player) {
    const share = step.kind === "action" ? Math.min(1, timeS / Math.max(1, step.duration_s * 0.7)) : 0;
    const ease = share * share * (3 - 2 * share);
    const columns = game.before.columns.map((c, k) => c + (game.after.columns[k] - c) * ease);
    columns.forEach((column, k) => this.robot(pen, this.at(f, column), f.y + f.h * LINES[k], f.h * 0.05, COLOURS[k], k + 1, k + 1 === game.controlled && step.kind !== "action"));
    const holder = game.before.holder - 1;
    let [bx, by] = [this.at(f, columns[holder]), f.y + f.h * LINES[holder] - f.h * 0.06];
    if (game.target !== null) {
      [bx, by] = [bx + (this.at(f, game.target) - bx) * ease, by + (f.y + 14 - by) * ease];
    } else if (game.outcome === "passed" || game.outcome === "intercepted") {
      const to = game.outcome === "passed" ? 1 - holder : 2;
      [bx, by] = [bx + (this.at(f, columns[to]) - bx) * ease, by + (f.y + f.h * LINES[to] - f.h * 0.05 - by) * ease];
    }
    pen.fillStyle = "#fff";
    pen.beginPath(); pen.arc(bx, by, f.h * 0.018, 0, 7); pen.fill();
    if (step.kind === "action" && game.outcome === "goal" && ease === 1 && this.understood(game) && this.counted !== player.entered) {
      this.counted = player.entered;
      this.goals += 1;
    }
    if (step.kind === "imagery") this.arrow(pen, f, step.params.limb);
  }

  robot(pen, x, y, r, colour, number, chosen) {
    if (chosen) {
      pen.strokeStyle = "#ffd866"; pen.lineWidth = 5;
      pen.beginPath(); pen.arc(x, y, r * 1.35, 0, 7); pen.stroke();
    }
    pen.fillStyle = colour;
    pen.beginPath(); pen.roundRect(x - r, y - r, 2 * r, 2 * r, r * 0.5); pen.fill();
    pen.fillStyle = "#0d1117";
    pen.font = `bold ${r * 1.2}px system-ui`;
    pen.textAlign = "center"; pen.textBaseline = "middle";
    pen.fillText(number, x, y);
    pen.textBaseline = "alphabetic";
  }

  arrow(pen, f, limb) {
    const side = limb === "left_hand" ? -1 : 1;
    pen.fillStyle = "#ffd866";
    pen.font = `${f.h * 0.14}px system-ui`;
    pen.textAlign = "center";
    pen.fillText(side < 0 ? "⬅" : "➡", f.x + f.w / 2 + side * f.w * 0.3, f.y + f.h * 0.55);
  }

  targets(pen, w, h, step, timeS, game) {
    const levels = this.levels(step, timeS);
    const side = Math.min(w * 0.15, h * 0.24);
    const places = { 3: [w * 0.02, h * 0.2], 5: [w * 0.02, h * 0.58], 4: [w * 0.98 - side, h * 0.2], 6: [w * 0.98 - side, h * 0.58] };
    for (const [task, [x, y]] of Object.entries(places)) {
      pen.fillStyle = grey(levels[task]);
      pen.fillRect(x, y, side, side);
      pen.fillStyle = "#000";
      pen.font = `${side * 0.4}px system-ui`;
      pen.textAlign = "center"; pen.textBaseline = "middle";
      pen.fillText(TARGETS[task][0], x + side / 2, y + side / 2);
      pen.textBaseline = "alphabetic";
      if (step?.kind === "cue" && game?.task === Number(task)) {
        pen.strokeStyle = "#ffd866"; pen.lineWidth = 6;
        pen.strokeRect(x - 4, y - 4, side + 8, side + 8);
      }
    }
  }

  feedback({ value }) { this.said = value; }
}
