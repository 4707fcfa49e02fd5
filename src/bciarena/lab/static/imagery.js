// Imagery, rehabilitation and resting state: a cue drawn as a simple figure, a cross, tones for the eyes.
import { drawPatch, fit } from "./player.js";

const FIGURES = { left_hand: [hand, -1], right_hand: [hand, 1], feet: [feet, 0], left_flexion: [arm, -1], right_flexion: [arm, 1], left_fist: [fist, -1], right_fist: [fist, 1] };

export class ImageryStage {
  constructor(canvas) {
    this.canvas = canvas;
    this.patch = false;
    new ResizeObserver(() => { this.pen = fit(canvas); }).observe(canvas);
    this.pen = fit(canvas);
  }

  begin() { this.said = null; }

  message(text) { this.note = text; }

  limb(step) {
    const { limb, action, side } = step.params;
    return action && side ? `${side}_${action}` : action && limb ? `${limb.split("_")[0]}_${action}` : limb;
  }

  draw(step, timeS, player) {
    const [pen, w, h] = [this.pen, this.canvas.clientWidth, this.canvas.clientHeight];
    pen.fillStyle = "#111";
    pen.fillRect(0, 0, w, h);
    pen.save();
    pen.translate(w / 2, h / 2);
    pen.strokeStyle = pen.fillStyle = "#ddd";
    pen.lineWidth = 6;
    pen.lineCap = pen.lineJoin = "round";
    const kind = step?.kind;
    if (kind === "cue" || kind === "imagery") {
      const [figure, side] = FIGURES[this.limb(step)] ?? [cross, 0];
      const size = Math.min(w, h) * 0.28;
      pen.strokeStyle = pen.fillStyle = kind === "cue" ? "#8ab4f8" : "#7ee787";
      pen.translate(side * size * 1.1, 0);
      // While imagining, the figure moves once a second: a rhythm to follow.
      figure(pen, size, side || 1, kind === "imagery" ? (1 - Math.cos(2 * Math.PI * timeS)) / 2 : 0);
    } else {
      cross(pen, 60);
      if (kind === "eyes_closed" || kind === "eyes_open") this.eyes(kind, step, player);
    }
    pen.restore();
    pen.fillStyle = "#aaa";
    pen.font = "22px system-ui";
    pen.textAlign = "center";
    pen.fillText(this.note ?? { eyes_open: "eyes open / 睁眼", eyes_closed: "eyes closed / 闭眼", rest: "" }[kind] ?? "", w / 2, h - 40);
    if (this.said && kind === "rest") pen.fillText(`→ ${this.said}`, w / 2, 50);
    drawPatch(this, pen, this.canvas, kind === "imagery");
  }

  eyes(kind, step, player) {
    if (this.sounded === player.entered) return;
    this.sounded = player.entered;
    tone(kind === "eyes_closed" ? 440 : 880);
  }

  feedback({ value }) { this.said = value; }
}

let audio;
function tone(hz) {
  audio ??= new AudioContext();
  const [source, volume] = [audio.createOscillator(), audio.createGain()];
  source.frequency.value = hz;
  volume.gain.setValueAtTime(0.2, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.6);
  source.connect(volume).connect(audio.destination);
  source.start();
  source.stop(audio.currentTime + 0.6);
}

function cross(pen, size) {
  pen.beginPath();
  pen.moveTo(-size / 2, 0); pen.lineTo(size / 2, 0); pen.moveTo(0, -size / 2); pen.lineTo(0, size / 2);
  pen.stroke();
}

function hand(pen, size, side, bend) {
  pen.save();
  pen.scale(side, 1);
  pen.beginPath();
  pen.roundRect(-size * 0.3, 0, size * 0.6, size * 0.55, size * 0.12);
  pen.stroke();
  for (let k = 0; k < 4; k++) {
    const x = -size * 0.24 + k * size * 0.16;
    pen.beginPath(); pen.moveTo(x, 0); pen.lineTo(x, -size * (0.5 - 0.06 * Math.abs(k - 1.5)) * (1 - 0.7 * bend)); pen.stroke();
  }
  pen.beginPath(); pen.moveTo(-size * 0.3, size * 0.25); pen.lineTo(-size * 0.55, size * (0.05 + 0.15 * bend)); pen.stroke();
  pen.restore();
}

function fist(pen, size, side, bend) { hand(pen, size, side, 0.45 + 0.55 * bend); }

function arm(pen, size, side, bend) {
  pen.save();
  pen.scale(side, 1);
  pen.lineWidth = 16;
  pen.beginPath(); pen.moveTo(0, -size * 0.6); pen.lineTo(0, size * 0.1);
  const angle = -bend * 2.0 + 0.1;
  pen.lineTo(size * 0.6 * Math.cos(angle), size * 0.1 + size * 0.6 * Math.sin(angle));
  pen.stroke();
  pen.beginPath(); pen.arc(size * 0.6 * Math.cos(angle), size * 0.1 + size * 0.6 * Math.sin(angle), size * 0.1, 0, 7); pen.fill();
  pen.restore();
}

function feet(pen, size, _, bend) {
  for (const side of [-1, 1]) {
    pen.save();
    pen.translate(side * size * 0.3, size * 0.2);
    pen.rotate(side * 0.12 - side * bend * 0.15);
    pen.beginPath(); pen.ellipse(0, -size * 0.15 * bend, size * 0.16, size * 0.42, 0, 0, 7); pen.stroke();
    for (let k = 0; k < 5; k++) { pen.beginPath(); pen.arc(-size * 0.13 + k * size * 0.065, -size * (0.47 + 0.15 * bend), size * 0.03, 0, 7); pen.fill(); }
    pen.restore();
  }
}
