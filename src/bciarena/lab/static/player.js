// Plays a timeline frame by frame. Time comes from requestAnimationFrame alone; every interval is logged.
import { refusal } from "./luminance.js";
import { SAID, filled, plate } from "./words.js";

const LOG_EVERY = 120; // frames
const AFTER_VOID_MS = 2000;
const CLOCK_MS = 4; // a code that may be so far off, a sample of most headsets, is told
const QUIET = { kind: "rest", code: 0, params: {} };

export function measureRefresh(frames = 60) {
  return new Promise((resolve) => {
    const [stamps, called] = [[], []];
    const step = (stamp) => {
      stamps.push(stamp);
      called.push(performance.now());
      if (stamps.length <= frames) return requestAnimationFrame(step);
      const gaps = stamps.slice(1).map((s, k) => s - stamps[k]);
      const usual = median(gaps);
      // Over whole periods: single gaps are rounded by the browser, their sum is not.
      const periods = gaps.reduce((sum, gap) => sum + Math.max(1, Math.round(gap / usual)), 0);
      const hz = (1000 * periods) / (stamps.at(-1) - stamps[0]);
      const shown = stamps.map((s, k) => frameTime(s, called[k], 1000 / hz)); // when a frame was really to be seen
      resolve({ hz, gaps_ms: shown.slice(1).map((s, k) => s - shown[k]).filter((gap) => gap > 500 / hz) });
    };
    requestAnimationFrame(step);
  });
}

// The frame that what is drawn now can be shown in. A page that was blocked is called with the time of the frame for
// which it was to be called, which may be seconds ago: what it draws is shown in the present frame, not in that one.
export const frameTime = (stamp, now, period) => stamp + Math.max(0, Math.floor((now - stamp) / period)) * period;

export class Player {
  constructor(link, stage, refreshHz) {
    this.link = link;
    this.refreshHz = refreshHz; // measured before the first block where it is not known
    this.stage = stage; // has draw(step, timeS, player), message(text) and optionally begin(timeline), feedback(message)
    this.running = false;
    this.paused = false; // asked for; it takes effect between trials
    this.held = null; // why the block's clock stands still now: "operator" or "key"
    this.frames = [];
    this.dropped = 0;
    this.total = 0;
    this.unseen = []; // answers that no frame has shown yet
    link.on("timeline", (message) => this.load(message));
    link.on("over", () => { this.over = true; });
    link.on("care", (message) => this.care(message.value));
    link.on("plan", (message) => this.plan(message));
    link.on("command", (message) => this.command(message));
    link.on("answer", (message) => this.answer(message));
    link.on("open", () => this.hello());
    link.on("closed", () => this.lost());
  }

  async hello() {
    this.refreshHz ??= (await measureRefresh()).hz;
    const size = [window.innerWidth, window.innerHeight];
    this.link.send({ type: "hello", refresh_hz: this.refreshHz, scale: window.devicePixelRatio, size });
  }

  load(message) {
    this.running = false;
    this.plan(message);
    this.timeline = message.timeline;
    this.index = message.from_step ?? 0;
    this.entered = -1;
    this.stage.look = message.look ?? {};
    const wanted = [...new Set(this.steps.flatMap((s) => (s.params.hz ? [s.params.hz, ...(s.params.others_hz ?? [])] : [])))];
    this.stage.message(this.notice ?? (message.self_paced ? SAID.press_start : null));
    this.care(message.care);
    this.intro(message.intro);
    document.getElementById("practice").hidden = !message.practice;
    document.body.style.setProperty("--text", `${textSize(this.stage, 0.026 * window.innerHeight)}px`);
    const reason = refusal(this.refreshHz ?? 60, wanted, SAID.too_slow);
    this.stage.begin?.(this.timeline, this);
    // What was to be so large at the subject's eye, and is not, must not go into a paper.
    if (this.stage.cramped) this.disturbed(filled(SAID.cramped, this.stage.cramped), { spoils: false });
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

  // The warning before anything that flickers: a key says that it was read.
  care(needed) { document.getElementById("care").hidden = !needed; }

  // What the subject is to do, before a part of the session.
  intro(text) {
    const place = document.getElementById("intro");
    place.hidden = !text;
    place.querySelector("p").textContent = text ?? "";
  }

  // What is still to come may change while a block runs: a void trial is shown again.
  plan({ timeline, trials, onward, lost_ms }) {
    this.steps = timeline.steps;
    [this.trials, this.onward, this.lostMs] = [trials, onward, lost_ms];
    this.begins = new Set(trials.map(([begin]) => begin));
  }

  command({ name }) {
    if (name === "start" && this.timeline && !this.running) this.start();
    if (name === "pause") this.paused = true;
    if (name === "resume") this.paused = false;
    if (name === "abort") this.stop("aborted");
    if (name === "key") this.key();
    if (name === "patch") this.stage.patch = !this.stage.patch;
  }

  start() {
    this.running = true;
    this.paused = false;
    this.held = this.last = this.zero = null;
    if (this.entered >= 0) this.index = this.onward[this.index]; // what was cut is not shown again, its codes are not sent twice
    this.entered = -1;
    this.stage.message(null);
    this.intro("");
    requestAnimationFrame((stamp) => this.frame(stamp));
  }

  answer(message) {
    this.stage.feedback?.(message, this);
    if (this.running) this.unseen.push(message);
  }

  // Without the hub no code reaches the recording: the block stops, and goes on when the hub is back.
  lost() {
    this.running = false;
    this.timeline = null;
    this.stage.message(this.over ? SAID.finished : SAID.lost);
    this.stage.draw(null, 0, this);
  }

  stop(why) {
    if (!this.running) return;
    this.running = false;
    this.held = null;
    if (why === "finished") {
      this.stage.message(SAID.finished);
      this.stage.draw(null, 0, this);
    } else this.blank(SAID[why] ?? SAID.stopped); // at once: nothing flickers on the next frame
    this.flush();
    this.link.send({ type: "stopped", why, dropped: this.dropped, frames: this.total });
  }

  blank(text) {
    const { pen, canvas } = this.stage;
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    plate(pen, text, canvas.clientWidth / 2, canvas.clientHeight / 2, canvas.clientHeight * 0.04);
  }

  // A key of the subject: goes on where the block waits for one, and is the emergency stop everywhere else.
  key() {
    if (this.held === "key") this.keyed = this.index;
    else if (this.running) this.stop("stopped by the subject");
    else this.link.send({ type: "key" });
  }

  // Something happened to the page that may spoil what is shown.
  disturbed(what, { spoils = true, pause = false } = {}) {
    const now = performance.now();
    this.link.send({ type: "noticed", what, hub_s: this.link.hubTime(now) });
    if (!this.running) return;
    if (pause) this.paused = true;
    if (spoils && this.inside()) this.makeVoid(what, now);
  }

  frame(told) {
    if (!this.running) return;
    const period = 1000 / this.refreshHz;
    const stamp = frameTime(told, performance.now(), period);
    const interval = this.last === null ? period : stamp - this.last;
    // Two calls for one frame, after a page was blocked: the screen shows it once.
    if (interval < period / 2) return requestAnimationFrame((following) => this.frame(following));
    if (this.last !== null) this.log(interval, stamp);
    this.last = stamp;
    if (this.index >= this.steps.length) return this.stop("finished");
    // The clock of the block: zero is the first frame of the step it began with.
    this.zero ??= stamp - this.steps[this.index].onset_s * 1000;
    const late = interval > 1.5 * period ? interval - period : 0;
    if (this.held) this.zero += interval; // the clock stands still
    else if (!this.inside()) this.zero += late; // nothing is caught up: what was not shown did not take place
    else {
      this.lostInTrial += late;
      if (this.lostInTrial > this.lostMs) this.makeVoid(filled(SAID.no_frames, { ms: Math.round(this.lostInTrial) }), stamp);
    }
    const now = (stamp - this.zero) / 1000;
    // One step a frame: what a frame shows has one code at most, and every step is seen.
    const next = this.entered < 0 ? this.index : this.index + 1;
    const due = next < this.steps.length && this.steps[next].onset_s <= now + 1e-6;
    this.hold(this.whyHold(next, due));
    if (due && !this.held) this.enter(next, stamp);
    const step = this.steps[this.index];
    const over = this.entered === this.steps.length - 1 && now >= step.onset_s + step.duration_s;
    if (over && !this.held) return this.stop("finished");
    const quiet = this.held || this.entered < 0;
    // A flicker's phase counts from the frame that first showed it.
    this.stage.draw(quiet ? QUIET : step, quiet ? 0 : (stamp - this.shownAt) / 1000, this);
    for (const { value, sample_s } of this.unseen.splice(0)) {
      this.link.send({ type: "shown", value, sample_s, hub_s: this.link.hubTime(performance.now()) });
    }
    requestAnimationFrame((following) => this.frame(following));
  }

  enter(index, stamp) {
    if (this.begins.has(index)) this.lostInTrial = 0;
    const unsure = this.link.unsureMs > CLOCK_MS;
    if (unsure && !this.unsure) this.disturbed(filled(SAID.clock_unsure, { ms: this.link.unsureMs.toFixed(0) }), { spoils: false });
    this.unsure = unsure;
    this.index = this.entered = index;
    this.shownAt = stamp;
    this.link.send({ type: "step", index, code: this.steps[index].code, hub_s: this.link.hubTime(stamp), page_ms: stamp, clock_ms: this.link.unsureMs });
  }

  // Whether the step on screen is part of a trial that is not over.
  inside() {
    return this.entered >= 0 && this.trials.some(([begin, , close]) => begin <= this.index && this.index < close);
  }

  // The trial ends here; after a moment of quiet the block goes on with the next.
  makeVoid(reason, stamp) {
    this.link.send({ type: "void", reason, hub_s: this.link.hubTime(stamp) });
    this.index = this.onward[this.index];
    this.entered = -1;
    const onset = this.steps[this.index]?.onset_s ?? 0;
    this.zero = stamp + AFTER_VOID_MS - onset * 1000;
  }

  whyHold(next, due) {
    if (due && this.entered >= 0 && this.steps[this.index].params.wait === "key" && this.keyed !== this.index) return "key";
    return this.paused && (!this.inside() || (due && this.begins.has(next))) ? "operator" : null;
  }

  hold(why) {
    if (why === this.held) return;
    this.held = why;
    this.stage.message(why === "key" ? SAID.press_key : why ? SAID.paused : null);
    this.link.send({ type: "paused", value: why !== null, why });
  }

  log(interval, stamp) {
    if (!this.frames.length) this.fromMs = stamp - interval;
    this.frames.push(Math.round(interval * 1000) / 1000);
    this.total += 1;
    const periods = Math.round((interval * this.refreshHz) / 1000);
    if (periods > 1) this.dropped += periods - 1;
    if (this.frames.length >= LOG_EVERY) this.flush();
  }

  flush() {
    if (!this.frames.length) return;
    this.link.send({ type: "frames", from_s: this.link.hubTime(this.fromMs), from_ms: this.fromMs, intervals_ms: this.frames, dropped: this.dropped });
    this.look(1000 / median(this.frames));
    this.frames = [];
  }

  // A screen that changes its rate (another monitor, power saving) shows other frequencies than were checked.
  look(hz) {
    const off = Math.abs(hz / this.refreshHz - 1) > 0.1;
    if (off && this.off && this.frames.length >= LOG_EVERY) {
      this.disturbed(filled(SAID.rate_changed, { hz: hz.toFixed(1), was: this.refreshHz.toFixed(1) }), { spoils: false });
    }
    this.off = off;
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export function fit(canvas) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const pen = canvas.getContext("2d", { alpha: false });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

// Pixels of an angle at the subject's eye; null where nobody has told the screen's width and the distance.
export function degrees(stage, angle) {
  const { width_cm, distance_cm } = stage.look ?? {};
  if (!width_cm || !distance_cm) return null;
  return (2 * distance_cm * Math.tan((angle * Math.PI) / 360) * window.screen.width) / width_cm;
}

// Letters of a subject's page.
export const textSize = (stage, otherwise) => degrees(stage, 0.7) ?? otherwise;

export const grey = (value) => `rgb(${value},${value},${value})`;

// Where a photodiode sits: the lower right corner, which the stages keep free.
export function patchAt(canvas) {
  const side = Math.min(60, canvas.clientHeight * 0.08);
  return [canvas.clientWidth - side, canvas.clientHeight - side, side, side];
}

export function drawPatch(stage, pen, canvas, on) {
  if (!stage.patch) return;
  pen.fillStyle = on ? "#fff" : "#000";
  pen.fillRect(...patchAt(canvas));
}
