// The usual stage: a cue in the middle, a cross, tones for the eyes. Contests without a stage.js use it.
import { CUE, LIMBS, NOW, cross, drawCue, lid } from "./figures.js";
import { degrees, drawPatch, fit, textSize } from "./player.js";
import { SAID, WAITING, plate } from "./words.js";

const [CUE_DEG, CROSS_DEG, LID_DEG] = [3, 1.8, 4.5]; // across, where the screen's size is known

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.patch = false;
    this.answers = JSON.parse(document.getElementById("answers").textContent);
    new ResizeObserver(() => { this.pen = fit(canvas); }).observe(canvas);
    this.pen = fit(canvas);
    canvas.addEventListener("click", () => tone(660)); // browsers let a page sound only after a click or a key
  }

  begin(timeline) {
    this.said = null;
    const shown = new Set(timeline.steps.map((step) => step.params.limb));
    this.legend = LIMBS.filter((limb) => shown.has(limb));
  }

  message(text) { this.note = text; }

  draw(step) {
    const [pen, w, h] = [this.pen, this.canvas.clientWidth, this.canvas.clientHeight];
    const kind = step?.kind;
    const text = textSize(this, h * 0.045);
    const [mark, shut] = [degrees(this, CROSS_DEG) ?? h * 0.12, degrees(this, LID_DEG) ?? h * 0.3];
    this.sound(kind);
    pen.fillStyle = "#111";
    pen.fillRect(0, 0, w, h);
    pen.save();
    pen.translate(w / 2, h / 2);
    pen.lineCap = pen.lineJoin = "round";
    let words = this.note ?? (step ? SAID[kind] : WAITING);
    const size = degrees(this, CUE_DEG) ?? Math.min(w, h) * 0.2;
    if (kind === "cue" || kind === "imagine") {
      drawCue(pen, step.params.limb, size, kind === "cue" ? CUE : NOW, this.look);
      words = this.note;
    } else if (!step && this.legend?.length) {
      this.explain(pen, size, w, h);
    } else if (kind === "eyes_open" || kind === "eyes_closed") {
      pen.strokeStyle = pen.fillStyle = "#ddd";
      if (kind === "eyes_open") cross(pen, mark);
      else lid(pen, shut);
    } else {
      pen.strokeStyle = "#ddd";
      cross(pen, mark);
    }
    pen.restore();
    plate(pen, words, w / 2, h * 0.9, text);
    const resting = kind === "rest" || kind === "mark" || kind === "gap";
    if (this.said && resting) plate(pen, `→ ${this.answers[this.said] ?? this.said}`, w / 2, h * 0.12, text);
    if (kind === "cue") this.said = null;
    drawPatch(this, pen, this.canvas, kind === "imagine");
  }

  // Before a block: what each cue asks for.
  explain(pen, size, w, h) {
    const gap = Math.min(w / this.legend.length, size * 2.5);
    this.legend.forEach((limb, k) => {
      const x = (k - (this.legend.length - 1) / 2) * gap;
      pen.save();
      pen.translate(x, -h * 0.08);
      drawCue(pen, limb, size, CUE, this.look);
      pen.restore();
      plate(pen, SAID[limb], x, h * 0.12, Math.min(textSize(this, h * 0.035), gap / 9));
    });
  }

  // Closed eyes see no screen: a tone begins and ends each state of the eyes.
  sound(kind) {
    if (kind === this.sounded) return;
    if (kind === "eyes_closed") tone(440);
    else if (kind === "eyes_open" || this.sounded === "eyes_closed") tone(880);
    this.sounded = kind;
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
