// Two-a-side robot soccer with four flicker targets. Positions and ball glide during the action phase.
import { level, luminance } from "/static/luminance.js";
import { CUE, NOW, drawCue } from "/static/figures.js";
import { degrees, drawPatch, fit, grey, textSize } from "/static/player.js";
import { SAID, WAITING, plate } from "/static/words.js";

export const RANGE = [(1 - 0.618) / 2, (1 + 0.618) / 2]; // -0.618 to 0.618 on a scale from -1 (black) to 1 (white)
const EDGE = 4; // columns go from -4 to 4
const LINES = [0.8, 0.6, 0.37, 0.17]; // robots 1, 2 attack, 3 defends, 4 keeps; share of the field's height
const COLOURS = ["#4f9cf9", "#36c5f0", "#ef6a5a", "#f0a63a"];
const TARGETS = { 3: ["◀", SAID.left, 15.4], 4: ["▶", SAID.right, 15.5], 5: ["⇄", SAID.pass, 15.6], 6: ["◎", SAID.shoot, 15.7] };
const GOLD = "#ffd866";
const TARGET_DEG = 5; // a flicker target, where the screen's size is known
const HANDS = { 1: "left_hand", 2: "right_hand" };

// The hand that a step of imagery, or its cue, asks for; nothing elsewhere.
const limbOf = (step) => (step?.kind === "cue" || step?.kind === "imagine" ? step.params.limb ?? HANDS[step.params.game?.task] : null);

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.goals = 0;
    this.patch = false;
    new ResizeObserver(() => this.layout()).observe(canvas);
    this.layout();
  }

  begin() { this.layout(); this.goals = 0; this.said = null; this.counted = -1; }

  message(text) { this.note = text; }

  // What never moves is drawn once, on a canvas of its own.
  layout() {
    this.pen = fit(this.canvas);
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const [wanted, most] = [degrees(this, TARGET_DEG), Math.min(w * 0.18, h * 0.3)];
    this.cramped = wanted > most ? { wanted: TARGET_DEG, most: ((TARGET_DEG * most) / wanted).toFixed(1) } : null;
    this.side = wanted ? Math.min(wanted, most) : Math.min(w * 0.15, h * 0.26);
    this.field = { x: w * 0.2, y: h * 0.1, w: w * 0.6, h: h * 0.86 };
    this.ground = document.createElement("canvas");
    const ratio = window.devicePixelRatio || 1;
    [this.ground.width, this.ground.height] = [this.canvas.width, this.canvas.height];
    const pen = this.ground.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = "#0d1117";
    pen.fillRect(0, 0, w, h);
    drawGround(pen, this.field);
  }

  // Grey level of each flicker target; still targets stand at the middle of the range.
  levels(step, timeS) {
    const [low, high] = RANGE;
    return Object.fromEntries(Object.entries(TARGETS).map(([task, [, , hz]]) =>
      [task, level(step?.kind === "flicker" ? luminance(timeS, hz, 0, RANGE) : (low + high) / 2)]));
  }

  draw(step, timeS, player) {
    const [pen, w, h] = [this.pen, this.canvas.clientWidth, this.canvas.clientHeight];
    pen.drawImage(this.ground, 0, 0, w, h);
    const game = step?.params?.game;
    if (step?.kind === "cue") this.said = null;
    if (game) this.play(pen, this.field, step, game, timeS, player);
    this.targets(pen, w, h, step, timeS, game);
    if (limbOf(step)) this.hand(pen, w, h, step);
    plate(pen, this.note ?? this.words(step, game), w / 2, h * 0.05, textSize(this, h * 0.036), step?.kind === "cue" ? GOLD : undefined);
    plate(pen, `⚽ ${this.goals}`, w * 0.095, h * 0.93, textSize(this, h * 0.045));
    if (step?.kind === "action" && game?.outcome === "goal" && this.counted === player.entered) {
      plate(pen, SAID.goal, w / 2, h * 0.5, h * 0.11, GOLD);
    }
    drawPatch(this, pen, this.canvas, step?.kind === "flicker" && luminance(timeS, step.params.hz, 0, [0, 1]) > 0.5);
  }

  words(step, game) {
    if (!step) return WAITING;
    if (!game) return step.kind === "rest" || step.kind === "idle" ? SAID.rest : "";
    if (step.kind !== "action") return limbOf(step) && step.kind !== "cue" ? "" : `${game.controlled}: ${SAID[`task_${game.task}`]}`;
    return this.understood(game) ? SAID[game.outcome] ?? game.outcome : `${SAID[game.outcome] ?? game.outcome} · ${SAID.not_understood}`;
  }

  // A hand to imagine is told where the eyes rest: alike for both hands, and it does not move.
  hand(pen, w, h, step) {
    const size = degrees(this, 3) ?? h * 0.14;
    pen.save();
    pen.translate(w / 2, h / 2);
    pen.fillStyle = "rgba(1,4,9,.85)";
    pen.beginPath(); pen.arc(0, 0, size * 0.9, 0, 7); pen.fill();
    drawCue(pen, limbOf(step), size, step.kind === "cue" ? CUE : NOW, this.look);
    pen.restore();
  }

  // A goal counts only when the decoder understood what the subject did in that trial.
  understood(game) { return Number(this.said) === game.task; }

  at(f, column) { return f.x + f.w / 2 + (column * f.w) / (2 * EDGE + 2); }

  play(pen, f, step, game, timeS, player) {
    const share = step.kind === "action" ? Math.min(1, timeS / Math.max(1, step.duration_s * 0.7)) : 0;
    const ease = share * share * (3 - 2 * share);
    const columns = game.before.columns.map((c, k) => c + (game.after.columns[k] - c) * ease);
    const r = f.h * 0.055;
    columns.forEach((column, k) => robot(pen, this.at(f, column), f.y + f.h * LINES[k], r, COLOURS[k], k + 1,
      k + 1 === game.controlled && step.kind !== "action", k < 2 ? -1 : 1));
    const holder = game.before.holder - 1;
    let [bx, by] = [this.at(f, columns[holder]), f.y + f.h * LINES[holder] - r * 1.5];
    if (game.target !== null) {
      [bx, by] = [bx + (this.at(f, game.target) - bx) * ease, by + (f.y + 14 - by) * ease];
    } else if (game.outcome === "passed" || game.outcome === "intercepted") {
      const to = game.outcome === "passed" ? 1 - holder : 2;
      [bx, by] = [bx + (this.at(f, columns[to]) - bx) * ease, by + (f.y + f.h * LINES[to] - r * 1.5 - by) * ease];
    }
    ball(pen, bx, by, f.h * 0.022, (bx + by) / (f.h * 0.03));
    if (step.kind === "action" && game.outcome === "goal" && ease === 1 && this.understood(game) && this.counted !== player.entered) {
      this.counted = player.entered;
      this.goals += 1;
    }
  }

  targets(pen, w, h, step, timeS, game) {
    const levels = this.levels(step, timeS);
    const { side } = this;
    const [left, right] = [w * 0.1 - side / 2, w * 0.9 - side / 2];
    const places = { 3: [left, h * 0.14], 5: [left, h * 0.52], 4: [right, h * 0.14], 6: [right, h * 0.52] };
    for (const [task, [x, y]] of Object.entries(places)) {
      const [sign, name] = TARGETS[task];
      pen.fillStyle = grey(levels[task]);
      pen.fillRect(x, y, side, side);
      pen.fillStyle = "#000";
      pen.font = `${side * 0.42}px system-ui`;
      pen.textAlign = "center"; pen.textBaseline = "middle";
      pen.fillText(sign, x + side / 2, y + side / 2);
      pen.textBaseline = "alphabetic";
      const mine = game?.task === Number(task) && step.kind !== "action";
      pen.fillStyle = mine ? GOLD : "#8b949e";
      pen.font = `600 ${textSize(this, side * 0.13)}px system-ui, "Noto Sans CJK SC"`;
      pen.fillText(name, x + side / 2, y + side * 1.19);
      if (mine && step.kind === "cue") {
        pen.strokeStyle = GOLD; pen.lineWidth = 8;
        pen.strokeRect(x - 6, y - 6, side + 12, side + 12);
      }
    }
  }

  feedback({ value }) { this.said = value; }
}

function drawGround(pen, f) {
  pen.save();
  pen.beginPath(); pen.roundRect(f.x, f.y, f.w, f.h, 14); pen.clip();
  for (let k = 0; k < 10; k++) { // mown stripes
    pen.fillStyle = k % 2 ? "#1d7040" : "#196237";
    pen.fillRect(f.x, f.y + (k * f.h) / 10, f.w, f.h / 10 + 1);
  }
  pen.restore();
  const column = f.w / (2 * EDGE + 2); // the goal's mouth covers columns -1 to 1
  const middle = f.x + f.w / 2;
  pen.strokeStyle = "rgba(255,255,255,.75)";
  pen.lineWidth = 3;
  pen.strokeRect(f.x + 10, f.y + 10, f.w - 20, f.h - 20);
  pen.beginPath(); pen.moveTo(f.x + 10, f.y + f.h / 2); pen.lineTo(f.x + f.w - 10, f.y + f.h / 2); pen.stroke();
  pen.beginPath(); pen.arc(middle, f.y + f.h / 2, f.h * 0.1, 0, 7); pen.stroke();
  pen.strokeRect(middle - 3 * column, f.y + 10, 6 * column, f.h * 0.2);
  pen.strokeRect(middle - 2 * column, f.y + 10, 4 * column, f.h * 0.08);
  pen.fillStyle = "rgba(255,255,255,.14)"; // the net
  pen.fillRect(middle - 1.5 * column, f.y - 16, 3 * column, 28);
  pen.lineWidth = 1;
  for (let x = middle - 1.5 * column; x <= middle + 1.5 * column; x += 9) { pen.beginPath(); pen.moveTo(x, f.y - 16); pen.lineTo(x, f.y + 12); pen.stroke(); }
  pen.strokeStyle = "#fff";
  pen.lineWidth = 6;
  pen.beginPath(); pen.moveTo(middle - 1.5 * column, f.y + 12); pen.lineTo(middle - 1.5 * column, f.y - 16);
  pen.lineTo(middle + 1.5 * column, f.y - 16); pen.lineTo(middle + 1.5 * column, f.y + 12); pen.stroke();
}

// Seen from above: body, two wheels, eyes towards where it plays (-1 up, 1 down), a number.
function robot(pen, x, y, r, colour, number, chosen, facing) {
  pen.fillStyle = "rgba(0,0,0,.3)";
  pen.beginPath(); pen.ellipse(x + r * 0.12, y + r * 0.22, r * 1.12, r, 0, 0, 7); pen.fill();
  if (chosen) {
    pen.strokeStyle = GOLD; pen.lineWidth = 6;
    pen.beginPath(); pen.arc(x, y, r * 1.5, 0, 7); pen.stroke();
  }
  pen.fillStyle = "#161b22";
  for (const side of [-1, 1]) { pen.beginPath(); pen.roundRect(x + side * r * 0.98 - r * 0.16, y - r * 0.55, r * 0.32, r * 1.1, r * 0.1); pen.fill(); }
  pen.fillStyle = colour;
  pen.beginPath(); pen.roundRect(x - r * 0.9, y - r * 0.9, 1.8 * r, 1.8 * r, r * 0.5); pen.fill();
  for (const side of [-1, 1]) {
    pen.fillStyle = "#fff"; pen.beginPath(); pen.arc(x + side * r * 0.38, y + facing * r * 0.62, r * 0.2, 0, 7); pen.fill();
    pen.fillStyle = "#0d1117"; pen.beginPath(); pen.arc(x + side * r * 0.38, y + facing * r * 0.7, r * 0.1, 0, 7); pen.fill();
  }
  pen.fillStyle = "#0d1117";
  pen.font = `bold ${r * 0.95}px system-ui`;
  pen.textAlign = "center"; pen.textBaseline = "middle";
  pen.fillText(number, x, y - facing * r * 0.12);
  pen.textBaseline = "alphabetic";
}

function ball(pen, x, y, r, roll) {
  pen.fillStyle = "rgba(0,0,0,.35)";
  pen.beginPath(); pen.ellipse(x + r * 0.25, y + r * 0.35, r, r * 0.85, 0, 0, 7); pen.fill();
  pen.fillStyle = "#fff";
  pen.beginPath(); pen.arc(x, y, r, 0, 7); pen.fill();
  pen.fillStyle = "#222";
  for (let k = 0; k < 3; k++) { // patches turn as it rolls
    const angle = roll + (k * 2 * Math.PI) / 3;
    pen.beginPath(); pen.arc(x + Math.cos(angle) * r * 0.55, y + Math.sin(angle) * r * 0.55, r * 0.25, 0, 7); pen.fill();
  }
}
