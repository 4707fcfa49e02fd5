// Plays a timeline frame by frame. Time comes from requestAnimationFrame alone; every interval is logged.
import { refusal } from "./luminance.js";
import { LOST } from "./words.js";

const LOG_EVERY = 120; // frames

export function measureRefresh(frames = 60) {
  return new Promise((resolve) => {
    const stamps = [];
    const step = (stamp) => {
      stamps.push(stamp);
      if (stamps.length <= frames) return requestAnimationFrame(step);
      const gaps = stamps.slice(1).map((s, k) => s - stamps[k]).sort((a, b) => a - b);
      resolve(1000 / gaps[Math.floor(gaps.length / 2)]);
    };
    requestAnimationFrame(step);
  });
}

export class Player {
  constructor(link, stage) {
    this.link = link;
    this.stage = stage; // has draw(step, timeS, player) and optionally begin(timeline), feedback(message)
    this.running = false;
    this.paused = false;
    this.frames = [];
    this.dropped = 0;
    this.total = 0;
    this.unseen = []; // answers that no frame has shown yet
    link.on("timeline", (message) => this.load(message));
    link.on("command", (message) => this.command(message));
    link.on("answer", (message) => this.answer(message));
    link.on("open", () => this.hello());
    link.on("closed", () => this.lost());
  }

  async hello() {
    this.refreshHz ??= await measureRefresh();
    this.link.send({ type: "hello", refresh_hz: this.refreshHz, resumed_at: this.running ? this.index : null });
  }

  load({ timeline, from_step }) {
    this.timeline = timeline;
    this.steps = timeline.steps;
    this.index = from_step ?? 0;
    const wanted = [...new Set(this.steps.flatMap((s) => (s.params.hz ? [s.params.hz, ...(s.params.others_hz ?? [])] : [])))];
    this.stage.message(null);
    const reason = refusal(this.refreshHz ?? 60, wanted);
    this.stage.begin?.(timeline, this);
    if (reason) {
      this.link.send({ type: "refused", reason });
      this.stage.message(reason);
      this.stage.draw(null, 0, this);
      this.timeline = null;
      return;
    }
    this.link.send({ type: "ready", steps: this.steps.length, refresh_hz: this.refreshHz });
    this.stage.draw(null, 0, this);
  }

  command({ name }) {
    if (name === "start" && this.timeline && !this.running) {
      this.running = true;
      this.paused = false;
      this.last = null;
      this.zero = null;
      this.entered = -1;
      requestAnimationFrame((stamp) => this.frame(stamp));
    }
    if (name === "pause") this.paused = true; // takes effect between trials
    if (name === "resume") this.paused = false;
    if (name === "abort") this.stop("aborted");
    if (name === "patch") this.stage.patch = !this.stage.patch;
  }

  answer(message) {
    this.stage.feedback?.(message, this);
    if (this.running) this.unseen.push(message);
  }

  // Without the hub no code reaches the recording: the block stops, and goes on when the hub is back.
  lost() {
    this.running = false;
    this.timeline = null;
    this.stage.message(LOST);
    this.stage.draw(null, 0, this);
  }

  stop(why) {
    this.running = false;
    this.flush();
    this.link.send({ type: "stopped", why, dropped: this.dropped, frames: this.total });
    this.stage.draw(null, 0, this);
  }

  frame(stamp) {
    if (!this.running) return;
    if (this.last !== null) this.log(stamp - this.last);
    this.last = stamp;
    // The clock of the block: zero is the first frame of the step it began with.
    if (this.zero === null) this.zero = stamp - this.steps[this.index].onset_s * 1000;
    if (this.paused && this.betweenTrials()) {
      this.zero += 1000 / this.refreshHz; // the block's clock stands still
      this.stage.draw(null, 0, this);
      return requestAnimationFrame((next) => this.frame(next));
    }
    const now = (stamp - this.zero) / 1000;
    while (this.index + 1 < this.steps.length && this.steps[this.index + 1].onset_s <= now + 1e-6) {
      this.enter(stamp);
      this.index += 1;
    }
    this.enter(stamp);
    const step = this.steps[this.index];
    if (now >= step.onset_s + step.duration_s && this.index + 1 === this.steps.length) return this.stop("finished");
    // A flicker's phase counts from the frame that first showed it.
    this.stage.draw(step, (stamp - this.shownAt) / 1000, this);
    for (const { value, sample_s } of this.unseen.splice(0)) {
      this.link.send({ type: "shown", value, sample_s, hub_s: this.link.hubTime(performance.now()) });
    }
    requestAnimationFrame((next) => this.frame(next));
  }

  enter(stamp) {
    if (this.entered === this.index) return;
    this.entered = this.index;
    this.shownAt = stamp;
    const step = this.steps[this.index];
    this.link.send({ type: "step", index: this.index, code: step.code, hub_s: this.link.hubTime(stamp), page_ms: stamp });
  }

  betweenTrials() {
    return ["rest", "mark"].includes(this.steps[this.index].kind) || (this.steps[this.index].kind === "cue" && this.entered !== this.index);
  }

  log(interval) {
    this.frames.push(Math.round(interval * 1000) / 1000);
    this.total += 1;
    const periods = Math.round((interval * this.refreshHz) / 1000);
    if (periods > 1) this.dropped += periods - 1;
    if (this.frames.length >= LOG_EVERY) this.flush();
  }

  flush() {
    if (this.frames.length) this.link.send({ type: "frames", intervals_ms: this.frames, dropped: this.dropped });
    this.frames = [];
  }
}

export function fit(canvas) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const pen = canvas.getContext("2d", { alpha: false });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

export const grey = (value) => `rgb(${value},${value},${value})`;

export function drawPatch(stage, pen, canvas, on) {
  if (!stage.patch) return;
  pen.fillStyle = on ? "#fff" : "#000";
  pen.fillRect(canvas.clientWidth - 60, canvas.clientHeight - 60, 60, 60);
}
