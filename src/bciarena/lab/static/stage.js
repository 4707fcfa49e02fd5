// Starts the player on the contest's own stage, and watches the page for what would spoil a trial.
import { Link } from "./link.js";
import { Player, measureRefresh } from "./player.js";
import { NO_FONT, SAID, canWrite } from "./words.js";

const canvas = document.getElementById("stage");
const { Stage } = await import(document.body.dataset.stage);
const stage = new Stage(canvas);

// /stage?measure: what this screen does, over ten seconds or so, before anybody sits there.
async function measured() {
  const { hz, gaps_ms } = await measureRefresh(600);
  const late = gaps_ms.filter((gap) => gap > 1500 / hz).length;
  const spread = Math.sqrt(gaps_ms.reduce((sum, gap) => sum + (gap - 1000 / hz) ** 2, 0) / gaps_ms.length);
  return { type: "measured", refresh_hz: hz, jitter_ms: spread, late, frames: gaps_ms.length };
}
const seen = new URLSearchParams(location.search).has("measure") ? await measured() : null;

const link = new Link("stimulus");
const player = new Player(link, stage, seen?.refresh_hz);
window.lab = { stage, player }; // for tests and the console
if (seen) {
  const { refresh_hz, jitter_ms, late, frames } = seen;
  player.notice = `${refresh_hz.toFixed(3)} Hz, ±${jitter_ms.toFixed(2)} ms, ${late} / ${frames} ${SAID.late}`;
  link.when(() => link.send(seen));
}
// No font, no words: a subject would read boxes.
if (!canWrite(SAID.waiting)) {
  player.notice ??= NO_FONT;
  link.when(() => player.disturbed(NO_FONT));
}

canvas.addEventListener("dblclick", () => document.documentElement.requestFullscreen?.());
window.addEventListener("keydown", (event) => { if (!event.repeat) player.key(); });
document.addEventListener("visibilitychange", () => {
  if (document.hidden) player.disturbed(SAID.hidden, { pause: true });
  else player.disturbed(SAID.visible, { spoils: false });
});
window.addEventListener("blur", () => player.disturbed(SAID.blur, { spoils: false }));
let size = [window.innerWidth, window.innerHeight, window.devicePixelRatio];
window.addEventListener("resize", () => {
  const now = [window.innerWidth, window.innerHeight, window.devicePixelRatio];
  const what = now[2] === size[2] ? SAID.resized : SAID.scaled;
  size = now;
  player.disturbed(`${what} ${now[0]} x ${now[1]}, ${now[2]}`);
});
document.addEventListener("fullscreenchange", () => {
  if (!document.fullscreenElement) player.disturbed(SAID.fullscreen_left);
});
