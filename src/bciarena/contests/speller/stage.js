// The 40 keys. Each key is a tile of the background grey with a darker grid on it; only the grid flickers.
import { BACKGROUND, level, luminance } from "/static/luminance.js";
import { degrees, drawPatch, fit, grey, textSize } from "/static/player.js";
import { SAID, WAITING } from "/static/words.js";

export const RANGE = [0.361, 0.5]; // off-type: the grid goes darker than its background of 0.5

const LABELS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "␣", ",", ".", "⌫"];
const [COLUMNS, ROWS, CELLS] = [10, 4, 8];
const [BAR, FOOT, TEXT] = [100, 75, 30]; // above the keys the text, below them room for the photodiode patch
const [KEY_DEG, PITCH_DEG] = [3, 4.1]; // a key, and from key to key, where the screen's size is known

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.typed = "";
    this.said = null;
    this.patch = false;
    new ResizeObserver(() => this.layout()).observe(canvas);
    this.layout();
  }

  begin() { this.layout(); this.typed = ""; this.said = null; this.keysN = this.undoneN = 0; this.since = null; }

  message(text) { this.note = text; }

  layout() {
    this.pen = fit(this.canvas);
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.text = textSize(this, TEXT);
    const bar = (BAR * this.text) / TEXT;
    const wanted = degrees(this, KEY_DEG);
    // Cells of whole pixels: sharp edges, and filling them needs no smoothing.
    const most = Math.min((w - 40) / (COLUMNS * 1.25), (h - bar - FOOT) / (ROWS * 1.35));
    const cell = wanted && wanted <= most ? Math.round(wanted / CELLS) : Math.floor(most / CELLS);
    const side = cell * CELLS;
    this.cramped = wanted > most ? { wanted: KEY_DEG, most: ((KEY_DEG * side) / wanted).toFixed(1) } : null;
    const pitch = wanted && !this.cramped ? degrees(this, PITCH_DEG) - side : Infinity;
    const gapX = Math.min(pitch, (w - 40 - side * COLUMNS) / (COLUMNS - 1));
    const gapY = Math.min(pitch, (h - bar - FOOT - side * ROWS) / (ROWS - 1));
    const left = (w - side * COLUMNS - gapX * (COLUMNS - 1)) / 2;
    const top = bar + (h - bar - FOOT - side * ROWS - gapY * (ROWS - 1)) / 2;
    this.keys = LABELS.map((label, k) => {
      const [x, y] = [Math.round(left + (k % COLUMNS) * (side + gapX)), Math.round(top + Math.floor(k / COLUMNS) * (side + gapY))];
      const grid = new Path2D();
      for (let i = 0; i < CELLS; i++) for (let j = 0; j < CELLS; j++) if ((i + j) % 2) grid.rect(x + i * cell, y + j * cell, cell, cell);
      return { label, x, y, side, grid };
    });
    this.scene = null;
  }

  // The luminance of every key's grid at a time; also what the photometric test asks for.
  levels(step, timeS) {
    const flicker = step?.kind === "flicker";
    return this.keys.map((_, k) => {
      const hz = 8 + 0.2 * k;
      const value = flicker ? luminance(timeS, hz, 0.5 * Math.PI * (k % 4), RANGE) : RANGE[1];
      return level(value);
    });
  }

  // What stands still is drawn when it changes; a frame of flicker draws the keys alone.
  draw(step, timeS) {
    const pen = this.pen;
    const free = step?.params.free; // nobody tells the subject what to spell
    const cued = !free && ["cue", "still", "flicker"].includes(step?.kind) ? step.params.key : null;
    if (free && step.kind === "flicker") this.since ??= performance.now();
    const scene = [step?.kind, cued, this.said, this.typed, this.note, this.patch].join("|");
    if (scene !== this.scene) this.still(step, cued);
    this.scene = scene;
    const back = grey(level(BACKGROUND));
    const levels = this.levels(step, timeS);
    pen.font = `${this.keys[0].side * 0.42}px system-ui`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    this.keys.forEach((key, k) => {
      pen.fillStyle = back;
      pen.fillRect(key.x, key.y, key.side, key.side);
      pen.fillStyle = grey(levels[k]);
      pen.fill(key.grid);
      pen.fillStyle = "#000";
      pen.fillText(key.label, key.x + key.side / 2, key.y + key.side / 2);
    });
    drawPatch(this, pen, this.canvas, step?.kind === "flicker" && Math.sin(2 * Math.PI * (step.params.hz ?? 10) * timeS + (step.params.phase_rad ?? 0)) > 0);
  }

  still(step, cued) {
    const [pen, w] = [this.pen, this.canvas.clientWidth];
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, w, this.canvas.clientHeight);
    this.keys.forEach((key, k) => {
      if (cued === k + 1 && step.kind === "cue") this.frame(key, "#f33", 8);
      if (cued === k + 1 && step.kind !== "cue") this.mark(key);
      if (step?.kind === "feedback" && this.said === k + 1) this.frame(key, "#3c6", 8);
    });
    pen.fillStyle = "#222";
    const size = this.text, line = 16 + size; // the middle of the line of text
    pen.fillRect(20, 16, w - 40, (56 * size) / TEXT);
    pen.fillStyle = "#eee";
    pen.font = `${size}px system-ui, "Noto Sans CJK SC", sans-serif`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    // The end of a long text is what one wants to see.
    let text = this.note ?? (step || this.typed ? `${this.typed}▏` : WAITING);
    while (!this.note && pen.measureText(text).width > w - 70) text = text.slice(Math.ceil(text.length / 20));
    pen.fillText(text, 34, line, w - 70);
    if (this.since && this.keysN) {
      pen.textAlign = "right";
      pen.font = `${(size * 2) / 3}px system-ui`;
      pen.fillStyle = "#8b949e";
      pen.fillText(this.rate(), w - 30, line);
    }
  }

  // Who corrects a wrong key spends another on it: of n keys, as many were wrong as were taken back.
  rate() {
    const [n, minutes] = [this.keysN, (performance.now() - this.since) / 60000];
    const [p, m] = [(n - this.undoneN) / n, LABELS.length];
    const wrong = p < 1 ? (1 - p) * Math.log2((1 - p) / (m - 1)) : 0;
    const bits = p < 1 / m ? 0 : Math.log2(m) + p * Math.log2(p) + wrong;
    return `${n} ${SAID.keys} · ${(n / minutes).toFixed(1)}/min · ${((bits * n) / minutes).toFixed(0)} bits/min`;
  }

  frame(key, colour, width) {
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = width;
    this.pen.strokeRect(key.x - width, key.y - width, key.side + 2 * width, key.side + 2 * width);
  }

  mark(key) { // a triangle below the key to look at
    this.pen.fillStyle = "#e33";
    this.pen.beginPath();
    this.pen.moveTo(key.x + key.side / 2, key.y + key.side + 5);
    this.pen.lineTo(key.x + key.side / 2 - 13, key.y + key.side + 26);
    this.pen.lineTo(key.x + key.side / 2 + 13, key.y + key.side + 26);
    this.pen.fill();
  }

  feedback({ value }) {
    const key = Number(value);
    if (!(key >= 1 && key <= 40)) return;
    this.said = key;
    const label = LABELS[key - 1];
    this.keysN += 1;
    if (label === "⌫") this.undoneN += 1;
    if (label === "." && this.since) window.speechSynthesis?.speak(new SpeechSynthesisUtterance(this.typed)); // a sentence is said aloud
    this.typed = label === "⌫" ? this.typed.slice(0, -1) : this.typed + (label === "␣" ? " " : label);
  }
}
