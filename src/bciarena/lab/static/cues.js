// The usual stage: a cue drawn as a simple figure, a cross, tones for the eyes. Contests without a stage.js use it.
import { drawPatch, fit } from "./player.js";
import { SAID, WAITING, plate } from "./words.js";

const FIGURES = { left_hand: [hand, -1], right_hand: [hand, 1], feet: [feet, 0], left_flexion: [arm, -1], right_flexion: [arm, 1], left_fist: [fist, -1], right_fist: [fist, 1] };
const [CUE, NOW] = ["#8ab4f8", "#7ee787"];

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.patch = false;
    this.answers = JSON.parse(document.getElementById("answers").textContent);
    new ResizeObserver(() => { this.pen = fit(canvas); }).observe(canvas);
    this.pen = fit(canvas);
    canvas.addEventListener("click", () => tone(660)); // browsers let a page sound only after a click
  }

  begin() { this.said = null; }

  message(text) { this.note = text; }

  limb(step) {
    const { limb, action, side } = step.params;
    return action && side ? `${side}_${action}` : action && limb ? `${limb.split("_")[0]}_${action}` : limb;
  }

  draw(step, timeS, player) {
    const [pen, w, h] = [this.pen, this.canvas.clientWidth, this.canvas.clientHeight];
    const kind = step?.kind;
    const text = h * 0.045;
    pen.fillStyle = "#111";
    pen.fillRect(0, 0, w, h);
    pen.save();
    pen.translate(w / 2, h / 2);
    pen.lineCap = pen.lineJoin = "round";
    let words = this.note ?? (step ? SAID[kind] : WAITING);
    if (kind === "cue" || kind === "imagine") {
      const limb = this.limb(step);
      const [figure, side] = FIGURES[limb] ?? [cross, 0];
      const size = Math.min(w, h) * 0.42;
      pen.strokeStyle = pen.fillStyle = kind === "cue" ? CUE : NOW;
      pen.save();
      pen.translate(side * Math.min(w * 0.22, size), 0);
      // While imagining, the figure moves once a second: a rhythm to follow.
      figure(pen, size, side || 1, kind === "imagine" ? (1 - Math.cos(2 * Math.PI * timeS)) / 2 : 0);
      pen.restore();
      if (side) cross(pen, h * 0.05); // the eyes stay in the middle
      words ??= SAID[limb];
    } else if (kind === "eyes_open" || kind === "eyes_closed") {
      this.tone(kind, player);
      pen.strokeStyle = pen.fillStyle = "#ddd";
      if (kind === "eyes_open") cross(pen, h * 0.12);
      else lid(pen, h * 0.3);
    } else {
      pen.strokeStyle = "#ddd";
      cross(pen, h * 0.12);
    }
    pen.restore();
    plate(pen, words, w / 2, h * 0.9, text, kind === "imagine" ? NOW : kind === "cue" ? CUE : undefined);
    const resting = kind === "rest" || kind === "mark" || kind === "gap";
    if (this.said && resting) plate(pen, `→ ${this.answers[this.said] ?? this.said}`, w / 2, h * 0.12, text);
    if (kind === "cue") this.said = null;
    drawPatch(this, pen, this.canvas, kind === "imagine");
  }

  tone(kind, player) {
    if (this.sounded === player.entered) return;
    this.sounded = player.entered;
    tone(kind === "eyes_closed" ? 440 : 880);
  }

  feedback({ value }) { this.said = value; }
}

let audio;
function tone(hz) {
  audio ??= new AudioContext();
  audio.resume();
  const [source, volume] = [audio.createOscillator(), audio.createGain()];
  source.frequency.value = hz;
  volume.gain.setValueAtTime(0.2, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.6);
  source.connect(volume).connect(audio.destination);
  source.start();
  source.stop(audio.currentTime + 0.6);
}

function cross(pen, size) {
  pen.lineWidth = size * 0.1;
  pen.beginPath();
  pen.moveTo(-size / 2, 0); pen.lineTo(size / 2, 0); pen.moveTo(0, -size / 2); pen.lineTo(0, size / 2);
  pen.stroke();
}

function lid(pen, size) { // a closed eye with lashes
  pen.lineWidth = size * 0.05;
  pen.beginPath(); pen.arc(0, -size * 0.45, size * 0.75, Math.PI * 0.24, Math.PI * 0.76); pen.stroke();
  for (const angle of [0.3, 0.4, 0.5, 0.6, 0.7]) {
    const [c, s] = [Math.cos(Math.PI * angle), Math.sin(Math.PI * angle)];
    pen.beginPath(); pen.moveTo(c * size * 0.75, s * size * 0.75 - size * 0.45); pen.lineTo(c * size * 0.92, s * size * 0.92 - size * 0.45); pen.stroke();
  }
}

// The back of a hand: a palm and round fingers that draw in as it closes.
function hand(pen, size, side, bend) {
  pen.save();
  pen.scale(side, 1);
  pen.beginPath(); pen.roundRect(-size * 0.27, -size * 0.08, size * 0.54, size * 0.52, size * 0.16); pen.fill();
  pen.lineWidth = size * 0.115;
  [0.3, 0.4, 0.43, 0.36].forEach((length, k) => {
    const x = size * (0.205 - k * 0.137);
    pen.beginPath(); pen.moveTo(x, 0); pen.lineTo(x, -size * length * (1 - 0.75 * bend)); pen.stroke();
  });
  pen.beginPath(); pen.moveTo(-size * 0.2, size * 0.24); pen.lineTo(-size * (0.43 - 0.2 * bend), size * (0.02 + 0.1 * bend)); pen.stroke();
  pen.restore();
}

function fist(pen, size, side, bend) { hand(pen, size, side, 0.35 + 0.65 * bend); }

// Shoulder, elbow, hand: the forearm comes up.
function arm(pen, size, side, bend) {
  const angle = 0.2 - bend * 1.75;
  const [x, y] = [size * 0.55 * Math.cos(angle), size * 0.28 + size * 0.55 * Math.sin(angle)];
  pen.save();
  pen.scale(side, 1);
  pen.translate(-size * 0.2, 0);
  pen.lineWidth = size * 0.17;
  pen.beginPath(); pen.moveTo(0, -size * 0.42); pen.lineTo(0, size * 0.28); pen.stroke();
  pen.lineWidth = size * 0.13;
  pen.beginPath(); pen.moveTo(0, size * 0.28); pen.lineTo(x, y); pen.stroke();
  pen.beginPath(); pen.arc(x, y, size * 0.12, 0, 7); pen.fill();
  pen.beginPath(); pen.arc(0, -size * 0.42, size * 0.14, 0, 7); pen.fill();
  pen.restore();
}

// Two soles whose toes come up.
function feet(pen, size, _, bend) {
  for (const side of [-1, 1]) {
    pen.save();
    pen.scale(side, 1);
    pen.translate(size * 0.25, size * 0.05);
    pen.rotate(0.14 - bend * 0.14);
    pen.beginPath(); pen.ellipse(0, size * 0.28, size * 0.11, size * 0.15, 0, 0, 7); pen.fill();
    pen.beginPath(); pen.ellipse(size * 0.01, -size * 0.08, size * 0.16, size * 0.22, 0.1, 0, 7); pen.fill();
    pen.beginPath(); pen.roundRect(-size * 0.08, -size * 0.05, size * 0.16, size * 0.34, size * 0.08); pen.fill();
    [0.07, 0.055, 0.05, 0.045, 0.04].forEach((r, k) => {
      pen.beginPath(); pen.arc(size * (-0.13 + k * 0.085), -size * (0.37 - 0.007 * k * k + 0.07 * bend), size * r, 0, 7); pen.fill();
    });
    pen.restore();
  }
}
